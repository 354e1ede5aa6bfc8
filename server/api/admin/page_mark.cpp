#include "server/api/admin/page_mark.hpp"

#include "core/decimal.hpp"

#include <limits>

namespace restante {

std::string write_page_mark(const waiting_place& place)
{
    const auto id = to_string(place.id);
    return place.rank ? std::to_string(*place.rank) + '.' + id : id;
}

std::optional<waiting_place> parse_page_mark(std::string_view text)
{
    waiting_place place;
    if (const auto dot = text.find('.'); dot != std::string_view::npos) {
        const auto rank = parse_decimal(text.substr(0, dot));
        if (!rank || *rank > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
        place.rank = static_cast<std::int64_t>(*rank);
        text.remove_prefix(dot + 1);
    }
    const auto id = parse_uuid(text);
    if (!id)
        return std::nullopt;
    place.id = *id;
    return place;
}

}  // namespace restante
