#include "http/client/client_error.hpp"

#include <string>

namespace restante {

namespace {

const char* describe(client_errc e)
{
    switch (e) {
        case client_errc::bad_url: return "not a URL that can be called";
        case client_errc::address_refused: return "address not allowed";
        case client_errc::name_not_found: return "name not found";
        case client_errc::connect_failed: return "connection failed";
        case client_errc::tls_failed: return "TLS failed";
        case client_errc::certificate_untrusted: return "nobody who is trusted vouches for the certificate";
        case client_errc::certificate_of_other_host: return "the certificate is not for this name";
        case client_errc::certificate_expired: return "the certificate has expired or is not valid yet";
        case client_errc::broken: return "connection broken off, or the answer is not HTTP";
        case client_errc::late: return "too late";
        case client_errc::cancelled: return "cancelled";
    }
    return "unknown";
}

class category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "http client"; }
    std::string message(int value) const override { return describe(static_cast<client_errc>(value)); }
};

}  // namespace

const boost::system::error_category& client_category() noexcept
{
    static const category instance;
    return instance;
}

bool is_tls_failure(const error_code& ec) noexcept
{
    return ec == client_errc::tls_failed || ec == client_errc::certificate_untrusted ||
           ec == client_errc::certificate_of_other_host || ec == client_errc::certificate_expired;
}

error_code make_error_code(client_errc e) noexcept
{
    return {static_cast<int>(e), client_category()};
}

}  // namespace restante
