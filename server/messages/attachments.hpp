#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// A file that a message or an upload refers to.
struct attachment {
    std::string kind;  // file, image, audio or video
    std::string uri;
    std::optional<std::string> mime_type = {};
    std::optional<std::string> name = {};
    std::optional<std::int64_t> size = {};

    bool operator==(const attachment&) const = default;
};

// More than a form may hold; a body of megabytes could name hundreds of thousands.
inline constexpr std::size_t most_attachments = 256;

// The files that the parts of a message name, in their order; `parts` is the text of a JSON array. A part
// with a file is any of
//   {"kind":"file","file":{"uri","name","mimeType"|"mime_type"}}        A2A 0.3
//   {"kind":"image"|"audio"|"video"|"file","uri","name","mimeType"}     older canvases
//   {"url","filename","mediaType"}                                      A2A 1.0
// What has no uri is no file: bytes inside a part stay there.
std::vector<attachment> attachments_in(std::string_view parts);

// The files that a request body names: the parts of a message (`params.message.parts`), or the manifest of an
// upload (`uri`, `name`, `mimeType`). A body that is something else, or no JSON, names none.
std::vector<attachment> attachments_of(std::string_view request_body);

}  // namespace restante
