#include "server/multipart/parameters.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante::multipart {

namespace {

// Many clients leave values unquoted that are no tokens (boundary=a/b, filename=é.txt); they are clear all
// the same.
bool is_bare_value_char(char c)
{
    return !is_ascii_control(c) && c != ' ' && c != ';' && c != '"';
}

}  // namespace

result<std::optional<parameter>> parameter_reader::next()
{
    // RFC 9110 allows empty parameters: `form-data; ; name=a;`.
    bool separated = false;
    while (!rest_.empty() && (is_blank(rest_[0]) || rest_[0] == ';')) {
        separated |= rest_[0] == ';';
        rest_.remove_prefix(1);
    }
    if (rest_.empty())
        return std::optional<parameter>();
    if (!separated)
        return RESTANTE_ERROR(errc::malformed_multipart);

    const auto equals = rest_.find('=');
    const auto name = rest_.substr(0, equals);
    if (equals == std::string_view::npos || !is_token(name))
        return RESTANTE_ERROR(errc::malformed_multipart);
    rest_.remove_prefix(equals + 1);

    auto value = read_value();
    if (!value)
        return value.error();
    return std::optional<parameter>(parameter{name, std::move(*value)});
}

result<std::string> parameter_reader::read_value()
{
    if (!rest_.empty() && rest_[0] == '"')
        return read_quoted();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_bare_value_char);
    const auto length = static_cast<std::size_t>(end - rest_.begin());
    if (length == 0)
        return RESTANTE_ERROR(errc::malformed_multipart);
    std::string value(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return value;
}

result<std::string> parameter_reader::read_quoted()
{
    std::string value;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
        const bool escape =
            rest_[i] == '\\' && i + 1 < rest_.size() && (rest_[i + 1] == '"' || rest_[i + 1] == '\\');
        if (escape) {
            ++i;
        } else if (rest_[i] == '"') {
            rest_.remove_prefix(i + 1);
            return value;
        }
        value += rest_[i];
    }
    return RESTANTE_ERROR(errc::malformed_multipart);
}

}  // namespace restante::multipart
