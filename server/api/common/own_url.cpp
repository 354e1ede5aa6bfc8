#include "server/api/common/own_url.hpp"

#include "core/text.hpp"

namespace restante {

std::string own_url(const request_header& head, bool encrypted, const std::string& public_url)
{
    if (!public_url.empty())
        return public_url;
    const bool tls = encrypted || iequals(head["X-Forwarded-Proto"], "https");
    return (tls ? "https://" : "http://") + std::string(head[http::field::host]);
}

}  // namespace restante
