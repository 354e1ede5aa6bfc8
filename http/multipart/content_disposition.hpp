#pragma once

#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante::multipart {

// What a part's Content-Disposition says. The bytes are the client's own: browsers write a quote in a name as
// %22, which is left as it is, because nobody can tell it from a file that is really called so.
struct content_disposition {
    std::string name;
    std::optional<std::string> filename;  // present but empty: a browser's file input with nothing chosen
};

// Takes the value of the header. Fails with errc::malformed_multipart unless it is `form-data` with exactly
// one name and at most one filename of at most 255 bytes, none of them with CR, LF or NUL. filename* is
// passed over: RFC 7578 forbids it in forms, and two names for one file would be one too many.
result<content_disposition> parse_content_disposition(std::string_view value);

}  // namespace restante::multipart
