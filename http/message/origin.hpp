#pragma once

#include "http/message/cors.hpp"
#include "http/message/request_gate.hpp"

#include <string_view>

namespace restante {

// Whether an Origin names the server that the request was sent to, by the Host that it was sent with. What
// came over TLS has an https origin; what came without may have passed a proxy that ended TLS, and has
// either.
bool is_own_origin(std::string_view origin, std::string_view host, bool encrypted) noexcept;

// Whether the page that sent this request, going by its Origin, may use the server in the name of its
// visitor: no page at all (no Origin), one of the server's own, or one of an allowed origin.
bool has_welcome_origin(const request_header& head, bool encrypted, const cors_policy& allowed);

// The same, going by Sec-Fetch-Site as well, which browsers also send where there is no Origin: with images,
// links and frames.
bool is_cross_site(const request_header& head, bool encrypted, const cors_policy& allowed);

}  // namespace restante
