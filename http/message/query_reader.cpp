#include "http/message/query_reader.hpp"

#include "http/message/field_grammar.hpp"

#include <algorithm>

namespace restante {

std::optional<std::uint64_t> parse_capped(std::string_view text, std::uint64_t most) noexcept
{
    const bool only_digits =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (text.empty() || !only_digits)
        return std::nullopt;
    // More digits than fit are a number all the same, and a large one.
    const auto significant = text.substr(std::min(text.find_first_not_of('0'), text.size()));
    if (significant.empty())
        return 0;
    return std::min(parse_digits(significant).value_or(most), most);
}

std::optional<std::string_view> query_reader::text(std::string_view name)
{
    const auto given = query_.get(name);
    if (!given) {
        refuse(std::string(name) + " must be given once, in plain ASCII");
        return std::nullopt;
    }
    if (!*given || (*given)->empty())
        return std::nullopt;
    return *given;
}

int query_reader::limit(int otherwise, int most)
{
    const auto given = text("limit");
    if (!given)
        return otherwise;
    const auto number = parse_capped(*given, static_cast<std::uint64_t>(most)).value_or(0);
    return number == 0 ? otherwise : static_cast<int>(number);
}

void query_reader::refuse(std::string sentence)
{
    if (!refused_)
        refused_.emplace(errc::bad_request, std::move(sentence));
}

}  // namespace restante
