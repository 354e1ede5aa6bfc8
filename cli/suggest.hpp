#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace restante {

// The number of letters to insert, remove or replace to turn one word into the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that a mistyped word most likely meant; empty if none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace restante
