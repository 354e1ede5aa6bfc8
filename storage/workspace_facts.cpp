#include "storage/workspace_facts.hpp"

#include "storage/pq/result.hpp"

namespace restante {

std::string_view to_string(delivery_mode mode) noexcept
{
    switch (mode) {
        case delivery_mode::poll: return "poll";
        case delivery_mode::push: return "push";
        case delivery_mode::none: break;
    }
    return "";
}

std::optional<delivery_mode> parse_delivery_mode(std::string_view text) noexcept
{
    if (text == "poll")
        return delivery_mode::poll;
    if (text == "push")
        return delivery_mode::push;
    return std::nullopt;
}

result<workspace_facts> read_workspace_facts(const pq::row& from, int first_column)
{
    const auto id = from[first_column].as<uuid>();
    const auto mode = from[first_column + 1].as<std::optional<std::string_view>>();
    const auto has_url = from[first_column + 2].as<bool>();
    const auto can_stage = from[first_column + 3].as<bool>();
    const auto removed = from[first_column + 4].as<bool>();
    if (!id || !mode || !has_url || !can_stage || !removed)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return workspace_facts{
        .id = *id,
        .mode = parse_delivery_mode(mode->value_or("")).value_or(delivery_mode::none),
        .has_url = *has_url,
        .can_stage = *can_stage,
        .removed = *removed,
    };
}

}  // namespace restante
