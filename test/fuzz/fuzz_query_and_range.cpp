// A request target, a Range and an If-None-Match, one per line. For any input, an accepted path cannot escape
// its root, and a range is inside the file.
#include "http/message/byte_range.hpp"
#include "http/message/request_target.hpp"
#include "test/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace {

using namespace restante;

std::string_view take_line(std::string_view& rest)
{
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
}

void check_target(std::string_view text)
{
    const auto target = parse_request_target(text);
    if (!target)
        return;
    const std::string_view path = target->path;
    require(path == "*" || path.starts_with('/'));
    require(path.size() <= text.size() + 1);
    require(path.find("/../") == path.npos && !path.ends_with("/..") && path.find('\\') == path.npos);
    for (const char c : path)
        require(c >= 0x20 && c < 0x7F);
    for (const char* name : {"limit", "since_id", ""}) {
        const auto value = target->query.get(name);
        if (value && *value)
            require((*value)->size() <= text.size());
    }
}

void check_range(std::string_view text)
{
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
        const auto decided = decide_range(text, size);
        if (decided.answer == range_answer::part)
            require(decided.range.first <= decided.range.last && decided.range.last < size);
        else
            require(decided.range == byte_range{});
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    check_target(take_line(rest));
    check_range(take_line(rest));
    const bool hit = if_none_match_hits(rest, "\"abc\"");
    require(!hit || rest == "*" || rest.find("\"abc\"") != rest.npos);
    require(if_range_allows(rest, "\"abc\"") == (rest == "\"abc\""));
    return 0;
}
