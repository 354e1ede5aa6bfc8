#pragma once

#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante::multipart {

// A part's Content-Disposition. The bytes are the client's own: browsers write a quote in a name as %22,
// which is left unchanged, because it is indistinguishable from a file that really has this name.
struct content_disposition {
    std::string name;
    std::optional<std::string> filename;  // empty: a browser's file input without a selection
};

// Parses the value of the header. Fails with errc::malformed_multipart unless it is `form-data` with exactly
// one name and at most one filename of at most 255 bytes, none of them with CR, LF or NUL. filename* is
// ignored: RFC 7578 forbids it in forms, and two names for one file would be ambiguous.
result<content_disposition> parse_content_disposition(std::string_view value);

}  // namespace restante::multipart
