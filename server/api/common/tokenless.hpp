#pragma once

#include "auth/principal.hpp"
#include "core/error.hpp"
#include "http/message/cors.hpp"
#include "http/message/request_gate.hpp"
#include "http/routing/routes.hpp"

namespace restante {

// Whom registration is open to. A request that a proxy has forwarded comes from somewhere else, whatever
// address its connection has.
enum class open_registration { nobody, unless_forwarded, everybody };

// What can be done without a token.
struct tokenless_policy {
    bool dev = false;
    open_registration registration = open_registration::nobody;
};

// What decides about a request that brings no token.
struct tokenless_request {
    const request_header& head;
    scope wanted;
    bool takes_json = false;  // the route reads its body as JSON
    bool from_loopback = false;
    bool encrypted = false;
};

// On whose behalf such a request acts: dev under --dev, nobody while registration is open. What it may do, it
// may because of where it comes from; a page of another site that runs in a browser on this machine comes
// from there as well, so it is refused, and JSON must be declared as JSON, which a page cannot do for another
// site without asking first. Errors: missing_token, cross_site, unsupported_media_type.
result<principal> admit_without_token(const tokenless_request& request, const tokenless_policy& policy,
                                      const cors_policy& allowed);

// Whether a proxy says that it has forwarded this request.
bool was_forwarded(const request_header& head);

}  // namespace restante
