#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace restante {

// Where the bytes of a staged file are. The names are values of pending_uploads.content_place, of
// --content-store, and labels of metrics.
enum class content_place {
    inline_,    // in the row itself
    directory,  // in a file under --content-dir
    s3,         // in an object
};
inline constexpr std::array<std::string_view, 3> content_place_names{"inline", "directory", "s3"};

constexpr std::string_view name_of(content_place place)
{
    return content_place_names[static_cast<std::size_t>(place)];
}

constexpr std::optional<content_place> content_place_named(std::string_view name)
{
    for (std::size_t i = 0; i < content_place_names.size(); ++i)
        if (content_place_names[i] == name)
            return static_cast<content_place>(i);
    return std::nullopt;
}

}  // namespace restante
