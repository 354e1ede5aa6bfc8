#pragma once

#include <optional>
#include <string_view>

namespace restante {

// The site that an Origin, or the URL of a page, names.
struct web_origin {
    bool encrypted = false;      // https
    std::string_view authority;  // host and port, without the usual port of the scheme
};

// Clients other than browsers send the URL of the server as they were given it, with a slash or a path at
// the end, or with a port that goes without saying: all of that is left out. Nothing when it names no site.
std::optional<web_origin> read_web_origin(std::string_view text) noexcept;

// A host, with or without a port, without the usual port of that scheme.
std::string_view without_usual_port(std::string_view host, bool encrypted) noexcept;

}  // namespace restante
