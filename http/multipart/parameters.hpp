#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restante::multipart {

struct parameter {
    std::string_view name;  // a token, in its original case
    std::string value;      // any bytes, without quotes and escapes
};

// Parses the `; name=value; name="value"` tail of a header value, in order and with repetitions. All errors
// are errc::malformed_multipart.
//
// Inside quotes a backslash escapes only `"` and `\`. RFC 9110 lets it escape anything, but old clients send
// filename="C:\x.txt" without escaping, and the x belongs to the name.
result<std::vector<parameter>> parse_parameters(std::string_view text);

}  // namespace restante::multipart
