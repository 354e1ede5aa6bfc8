#include "http/multipart/boundary.hpp"

#include "core/text.hpp"
#include "http/multipart/parameters.hpp"

#include <algorithm>
#include <optional>

namespace restante::multipart {

namespace {

constexpr std::size_t max_boundary = 70;

bool is_boundary_char(char c)
{
    constexpr std::string_view marks = "'()+_,-./:=? ";
    return is_ascii_alnum(c) || marks.find(c) != std::string_view::npos;
}

bool is_legal(std::string_view text)
{
    return !text.empty() && text.size() <= max_boundary && text.back() != ' ' &&
           std::all_of(text.begin(), text.end(), is_boundary_char);
}

}  // namespace

result<boundary> boundary::from_content_type(std::string_view value)
{
    const auto end_of_type = std::min(value.find(';'), value.size());
    if (!iequals(trim_blanks(value.substr(0, end_of_type)), "multipart/form-data"))
        return RESTANTE_ERROR(errc::unsupported_media_type);

    auto parameters = parse_parameters(value.substr(end_of_type));
    if (!parameters)
        return parameters.error();
    std::optional<std::string> text;
    for (auto& [name, given] : *parameters) {
        if (!iequals(name, "boundary"))
            continue;
        if (text)
            return RESTANTE_ERROR(errc::malformed_multipart);
        text = std::move(given);
    }
    if (!text || !is_legal(*text))
        return RESTANTE_ERROR(errc::malformed_multipart);
    return boundary(std::move(*text));
}

}  // namespace restante::multipart
