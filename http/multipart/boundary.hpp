#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

namespace restante::multipart {

// The text that separates the parts of a form: 1 to 70 of RFC 2046's bchars, the last of them no space. That
// it holds neither CR nor LF is what lets the delimiter search be simple.
class boundary {
public:
    // Takes the value of a Content-Type header. Fails with errc::unsupported_media_type when that is not
    // multipart/form-data, with errc::malformed_multipart when the boundary is missing, repeated or illegal.
    static result<boundary> from_content_type(std::string_view value);

    const std::string& text() const noexcept { return text_; }

private:
    explicit boundary(std::string text) : text_(std::move(text)) {}

    std::string text_;
};

}  // namespace restante::multipart
