#pragma once

#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante::multipart {

// The headers of a part, as far as we use them.
struct part_head {
    std::string name;                     // of the form field
    std::optional<std::string> filename;  // any bytes; empty: a file input without a selection
    std::string content_type;             // as sent, even if malformed; empty if absent

    bool operator==(const part_head&) const = default;
};

// Parses the header lines, each with its CRLF, without the empty line that ends them. Fails with
// errc::malformed_multipart for a line that is not `name: value` (including folded ones), for a missing or
// repeated Content-Disposition, and for content that we would have to decode: a nested multipart or a
// Content-Transfer-Encoding that changes the bytes.
result<part_head> parse_part_head(std::string_view lines);

}  // namespace restante::multipart
