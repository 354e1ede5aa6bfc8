#include "server/api/common/callback_url.hpp"

#include "http/client/client_error.hpp"

namespace restante {

result<http_url> check_callback_url(std::string_view url, const address_policy& allowed)
{
    auto read = parse_http_url(url);
    if (!read)
        return read.error();
    const auto& origin = read->origin;
    if (origin.address && !allowed.allows(*origin.address))
        return client_errc::address_refused;
    if (is_localhost_name(origin.host) && !allowed.loopback)
        return client_errc::address_refused;
    return read;
}

}  // namespace restante
