#include "http/message/query_reader.hpp"

#include "core/decimal.hpp"

namespace restante {

std::optional<std::string_view> query_reader::text(std::string_view name)
{
    const auto given = query_.get(name);
    if (!given) {
        refuse(std::string(name) + " must be given once, in UTF-8 without control characters");
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
