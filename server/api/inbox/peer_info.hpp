#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// A file that an activity refers to.
struct attachment {
    std::string kind;  // file, image, audio or video
    std::string uri;
    std::optional<std::string> mime_type;
    std::optional<std::string> name;

    bool operator==(const attachment&) const = default;
};

// The files that a request body names, in its order: the parts of a message (`params.message.parts[]` of kind
// file, image, audio or video, with their fields inside `file` or beside `kind`), or the manifest of an
// upload (`uri`, `name`, `mimeType`). What has no uri is no file. A body that is something else, or no JSON,
// names none.
std::vector<attachment> attachments_of(std::string_view request_body);

}  // namespace restante
