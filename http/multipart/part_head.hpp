#pragma once

#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante::multipart {

// All that the headers of a part tell us.
struct part_head {
    std::string name;                     // of the form field
    std::optional<std::string> filename;  // any bytes; empty when a browser's file input had nothing chosen
    std::string content_type;             // as sent, strange bytes included; empty when there was none

    bool operator==(const part_head&) const = default;
};

// Takes the header lines, each with its CRLF, without the empty line that ends them. Fails with
// errc::malformed_multipart for a line that is no `name: value` (folded ones included), for a missing or
// repeated Content-Disposition, and for content that we would have to decode: a nested multipart or a
// Content-Transfer-Encoding that changes the bytes.
result<part_head> parse_part_head(std::string_view lines);

}  // namespace restante::multipart
