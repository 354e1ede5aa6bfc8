#pragma once

#include "core/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante::multipart {

struct parameter {
    std::string_view name;  // a token, in the sender's letter case
    std::string value;      // any bytes, without quotes and escapes
};

// Reads the `; name=value; name="value"` tail of a header value, one parameter a call. All errors are
// errc::malformed_multipart, and after one there is nothing more to read.
//
// Inside quotes a backslash escapes only `"` and `\`. RFC 9110 lets it escape anything, but old clients send
// filename="C:\x.txt" without escaping, and the x belongs to the name.
class parameter_reader {
public:
    explicit parameter_reader(std::string_view text) : rest_(text) {}

    // Empty when there are no more.
    result<std::optional<parameter>> next();

private:
    result<std::string> read_value();
    result<std::string> read_quoted();

    std::string_view rest_;
};

}  // namespace restante::multipart
