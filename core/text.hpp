#pragma once

#include <cstddef>
#include <string_view>

namespace restante {

// Small text rules of the protocols we speak. They work on bytes and ignore the locale.

constexpr char ascii_lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_ascii_alnum(char c) noexcept
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// C0 controls and DEL.
constexpr bool is_ascii_control(char c) noexcept
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

constexpr bool is_blank(char c) noexcept
{
    return c == ' ' || c == '\t';
}

// A character of an RFC 9110 token, as used in field and parameter names.
constexpr bool is_token_char(char c) noexcept
{
    return is_ascii_alnum(c) ||
           (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_token(std::string_view text) noexcept;

bool iequals(std::string_view a, std::string_view b) noexcept;
bool istarts_with(std::string_view text, std::string_view prefix) noexcept;

// Without leading and trailing spaces and tabs.
std::string_view trim_blanks(std::string_view text) noexcept;

}  // namespace restante
