#include "http/message/field_grammar.hpp"

#include "core/decimal.hpp"

#include <boost/url/authority_view.hpp>

#include <algorithm>

namespace restante {

namespace {

// RFC 3986 lets a name hold escapes and `,;=&`, too. No resolvable host has them, and a comma can mean that a
// proxy has joined two Host fields.
constexpr bool is_name_char(char c)
{
    return is_ascii_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Boost.URL accepts any number of digits as a port, and its port_number() returns a value for all of them.
bool is_port(std::string_view text)
{
    const auto number = parse_decimal(text);
    return number && *number >= 1 && *number <= 65'535;
}

bool is_bracketed_address(std::string_view text)
{
    const auto parsed = boost::urls::parse_authority(text);
    if (!parsed || (parsed->has_port() && !is_port(parsed->port())))
        return false;
    return parsed->host_type() == boost::urls::host_type::ipv6;
}

}  // namespace

bool list_contains(std::string_view list, std::string_view word) noexcept
{
    while (true) {
        const auto comma = list.find(',');
        if (iequals(trim_blanks(list.substr(0, comma)), word))
            return true;
        if (comma == std::string_view::npos)
            return false;
        list.remove_prefix(comma + 1);
    }
}

bool is_host_and_port(std::string_view text) noexcept
{
    if (text.starts_with('['))
        return is_bracketed_address(text);
    const auto colon = text.find(':');
    const auto name = text.substr(0, colon);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_char))
        return false;
    return colon == std::string_view::npos || is_port(text.substr(colon + 1));
}

}  // namespace restante
