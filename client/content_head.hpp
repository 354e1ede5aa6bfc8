#pragma once

#include "client/failure.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace restante::client {

// What the head of an answer says about the bytes that follow.
struct content_head {
    unsigned status = 0;
    std::optional<std::uint64_t> length = {};
    std::string_view content_range = {};
    std::string_view etag = {};
    std::string_view content_encoding = {};
};

// Where in the file the body begins: at `asked_from` or at 0. Fails with wrong_length, wrong_range or
// wrong_content when it is not the body of a file of this size and digest; all are worth another try.
outcome<std::uint64_t> check_content(const content_head& head, std::uint64_t asked_from, std::uint64_t size,
                                     std::string_view sha256);

}  // namespace restante::client
