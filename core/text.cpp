#include "core/text.hpp"

#include <algorithm>

namespace restante {

bool is_token(std::string_view text) noexcept
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool iequals(std::string_view a, std::string_view b) noexcept
{
    return a.size() == b.size() && istarts_with(a, b);
}

bool istarts_with(std::string_view text, std::string_view prefix) noexcept
{
    return text.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), text.begin(),
                      [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

std::string_view trim_blanks(std::string_view text) noexcept
{
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

}  // namespace restante
