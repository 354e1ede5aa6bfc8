#include "http/multipart/parameters.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante::multipart {

namespace {

// Many clients leave values unquoted that are not tokens (boundary=a/b, filename=é.txt); these are still
// unambiguous.
bool is_bare_value_char(char c)
{
    return !is_ascii_control(c) && c != ' ' && c != ';' && c != '"';
}

// Both functions consume a value from the front of the text.

result<std::string> take_bare(std::string_view& text)
{
    const auto end = std::find_if_not(text.begin(), text.end(), is_bare_value_char);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length == 0)
        return RESTANTE_ERROR(errc::malformed_multipart);
    std::string value(text.substr(0, length));
    text.remove_prefix(length);
    return value;
}

result<std::string> take_quoted(std::string_view& text)
{
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const bool escape =
            text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
        if (escape) {
            ++i;
        } else if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return value;
        }
        value += text[i];
    }
    return RESTANTE_ERROR(errc::malformed_multipart);
}

// Skips `;` and the blanks around it, and empty parameters, which RFC 9110 allows (`form-data; ; name=a;`).
// Returns whether there was a semicolon at all.
bool skip_separator(std::string_view& text)
{
    bool semicolon = false;
    while (!text.empty() && (is_blank(text[0]) || text[0] == ';')) {
        semicolon |= text[0] == ';';
        text.remove_prefix(1);
    }
    return semicolon;
}

}  // namespace

result<std::vector<parameter>> parse_parameters(std::string_view text)
{
    std::vector<parameter> parameters;
    for (;;) {
        const bool separated = skip_separator(text);
        if (text.empty())
            return parameters;
        const auto equals = text.find('=');
        const auto name = text.substr(0, equals);
        if (!separated || equals == std::string_view::npos || !is_token(name))
            return RESTANTE_ERROR(errc::malformed_multipart);
        text.remove_prefix(equals + 1);

        auto value = text.starts_with('"') ? take_quoted(text) : take_bare(text);
        if (!value)
            return value.error();
        parameters.push_back({name, std::move(*value)});
    }
}

}  // namespace restante::multipart
