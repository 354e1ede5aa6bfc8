#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace restante {

// How many letters must be inserted, removed or replaced to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that a mistyped word most likely meant; empty when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace restante
