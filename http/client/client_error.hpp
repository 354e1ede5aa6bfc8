#pragma once

#include "core/error.hpp"

namespace restante {

// Why a request of ours got no answer. The client knows no more about it than this.
enum class client_errc {
    bad_url = 1,      // not an http or https URL that can be called
    address_refused,  // the policy forbids an address that the name resolves to
    name_not_found,
    connect_failed,
    tls_failed,             // the peer does not speak our TLS
    certificate_untrusted,  // nobody whom we trust vouches for it
    certificate_of_other_host,
    certificate_expired,  // or not valid yet
    broken,               // the connection broke, while shaking hands or later, or the answer is not HTTP
    late,                 // a deadline passed
    cancelled,            // by the caller
};

const boost::system::error_category& client_category() noexcept;

// Whether the peer could not prove who it is, or did not speak TLS at all.
bool is_tls_failure(const error_code& ec) noexcept;

error_code make_error_code(client_errc e) noexcept;

}  // namespace restante

template <>
struct boost::system::is_error_code_enum<restante::client_errc> : std::true_type {};
