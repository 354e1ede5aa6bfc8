#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

namespace restante::multipart {

// The text that separates the parts of a form: 1 to 70 of RFC 2046's bchars, the last of them not a space. It
// contains neither CR nor LF, which keeps the delimiter search simple.
class boundary {
public:
    // Parses the value of a Content-Type header. Fails with errc::unsupported_media_type if that is not
    // multipart/form-data, with errc::malformed_multipart if the boundary is missing, repeated or illegal.
    static result<boundary> from_content_type(std::string_view value);

    const std::string& text() const noexcept { return text_; }

private:
    explicit boundary(std::string text) : text_(std::move(text)) {}

    std::string text_;
};

}  // namespace restante::multipart
