#include "http/message/web_origin.hpp"

namespace restante {

std::string_view without_usual_port(std::string_view host, bool encrypted) noexcept
{
    const std::string_view port = encrypted ? ":443" : ":80";
    if (host.ends_with(port))
        host.remove_suffix(port.size());
    return host;
}

std::optional<web_origin> read_web_origin(std::string_view text) noexcept
{
    for (const bool encrypted : {true, false}) {
        const std::string_view scheme = encrypted ? "https://" : "http://";
        if (!text.starts_with(scheme))
            continue;
        const auto rest = text.substr(scheme.size());
        const auto authority = without_usual_port(rest.substr(0, rest.find('/')), encrypted);
        if (authority.empty())
            return std::nullopt;
        return web_origin{encrypted, authority};
    }
    return std::nullopt;
}

}  // namespace restante
