#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace restante {

// Identifies a request in answers and logs, without an allocation. It uses the client's X-Request-Id when
// that is 8 to 64 of [A-Za-z0-9-], so that it can't inject anything where it is printed; else it makes one.
class request_id {
public:
    explicit request_id(std::string_view from_client);

    std::string_view view() const { return {text_.data(), size_}; }

private:
    std::array<char, 64> text_;
    std::size_t size_;
};

}  // namespace restante
