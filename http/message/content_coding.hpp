#pragma once

#include <string_view>

namespace restante {

// Whether Accept-Encoding allows gzip: it, or *, is listed with a weight above 0. What cannot be read counts
// as not listed.
bool accepts_gzip(std::string_view accept_encoding) noexcept;

}  // namespace restante
