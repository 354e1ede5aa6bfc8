#pragma once

#include "http/session/request_context.hpp"

#include <string>

namespace restante {

// Where this server is for whoever sent that request, without a slash at the end: `public_url`, or when that
// is empty what the request says. A proxy that ended TLS says so by X-Forwarded-Proto. Every link that we
// hand out begins with it.
std::string own_url(const request_header& head, bool encrypted, const std::string& public_url);

inline std::string own_url(const request_context& req, const std::string& public_url)
{
    return own_url(req.head(), req.encrypted(), public_url);
}

}  // namespace restante
