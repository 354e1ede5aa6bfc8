#include "http/message/byte_range.hpp"

#include "core/decimal.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace restante {

namespace {

// A position that overflows is past the end of every file; so is the maximum, which replaces it.
std::optional<std::uint64_t> parse_position(std::string_view text)
{
    return parse_capped(text, std::numeric_limits<std::uint64_t>::max());
}

range_decision part_of(std::uint64_t first, std::uint64_t last)
{
    return {range_answer::part, {first, last}};
}

constexpr range_decision whole{};
constexpr range_decision unsatisfiable{range_answer::unsatisfiable, {}};

// Takes one entity tag off the front of `list`: W/"x" gives "x", with its quotes. Empty when there is none.
std::string_view take_tag(std::string_view& list)
{
    if (list.starts_with("W/"))
        list.remove_prefix(2);
    if (!list.starts_with('"'))
        return {};
    const auto end = list.find('"', 1);
    if (end == std::string_view::npos)
        return {};
    const auto tag = list.substr(0, end + 1);
    list.remove_prefix(tag.size());
    return tag;
}

}  // namespace

range_decision decide_range(std::string_view range, std::uint64_t size) noexcept
{
    const auto equals = range.find('=');
    if (equals == std::string_view::npos || !iequals(range.substr(0, equals), "bytes"))
        return whole;
    const auto spec = trim_blanks(range.substr(equals + 1));
    const auto dash = spec.find('-');
    if (dash == std::string_view::npos)
        return whole;
    const auto left = spec.substr(0, dash);
    const auto right = spec.substr(dash + 1);

    if (left.empty()) {
        const auto suffix = parse_position(right);
        if (!suffix)
            return whole;
        if (*suffix == 0 || size == 0)
            return unsatisfiable;
        return part_of(size - std::min(*suffix, size), size - 1);
    }
    const auto first = parse_position(left);
    const auto last = right.empty() ? std::numeric_limits<std::uint64_t>::max() : parse_position(right);
    if (!first || !last || *first > *last)
        return whole;
    if (*first >= size)
        return unsatisfiable;
    return part_of(*first, std::min(*last, size - 1));
}

bool if_range_allows(std::string_view if_range, std::string_view etag) noexcept
{
    return if_range == etag;
}

bool if_none_match_hits(std::string_view if_none_match, std::string_view etag) noexcept
{
    if (if_none_match == "*")
        return true;
    auto rest = if_none_match;
    while (true) {
        rest = trim_blanks(rest);
        const auto tag = take_tag(rest);
        if (tag.empty())
            return false;
        if (tag == etag)
            return true;
        rest = trim_blanks(rest);
        if (!rest.starts_with(','))
            return false;
        rest.remove_prefix(1);
    }
}

}  // namespace restante
