#include "core/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace restante {

namespace {

// The character after the backslash; 0 for bytes that need no escape, 'u' for those without a short form.
constexpr auto escapes = [] {
    std::array<char, 256> table{};
    for (std::size_t c = 0; c < 0x20; ++c)
        table[c] = 'u';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    table['"'] = '"';
    table['\\'] = '\\';
    return table;
}();

constexpr char escape_of(char c)
{
    return escapes[static_cast<unsigned char>(c)];
}

void append_escaped(std::string& out, char c)
{
    constexpr char digits[] = "0123456789abcdef";
    out += '\\';
    out += escape_of(c);
    if (escape_of(c) == 'u') {
        out += "00";
        out += digits[c >> 4 & 0x0F];
        out += digits[c & 0x0F];
    }
}

}  // namespace

void append_json(std::string& out, std::string_view utf8)
{
    out += '"';
    while (true) {
        const auto special = std::find_if(utf8.begin(), utf8.end(), [](char c) { return escape_of(c) != 0; });
        out.append(utf8.begin(), special);
        if (special == utf8.end())
            break;
        append_escaped(out, *special);
        utf8.remove_prefix(static_cast<std::size_t>(special - utf8.begin()) + 1);
    }
    out += '"';
}

void append_json(std::string& out, std::int64_t number)
{
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_json(std::string& out, const uuid& id)
{
    out += '"';
    append_to(out, id);
    out += '"';
}

void append_json(std::string& out, timestamp when)
{
    out += '"';
    append_rfc3339(out, when);
    out += '"';
}

}  // namespace restante
