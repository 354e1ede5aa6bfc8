#pragma once

#include <cstdint>
#include <string_view>

namespace restante {

// Inclusive at both ends, as in Content-Range.
struct byte_range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t size() const { return last - first + 1; }
    bool operator==(const byte_range&) const = default;
};

enum class range_answer {
    whole,          // 200: no range, several, another unit, or one that makes no sense
    part,           // 206
    unsatisfiable,  // 416
};

struct range_decision {
    range_answer answer = range_answer::whole;
    byte_range range;  // with part

    bool operator==(const range_decision&) const = default;
};

// `range` is the field's value, empty when there is none; `size` the length of the file in bytes. RFC 9110,
// 14.2: a range that can't be parsed is ignored, a valid one outside the file is refused.
range_decision decide_range(std::string_view range, std::uint64_t size) noexcept;

// Whether a Range may be honoured under this If-Range value. Only the same strong tag proves that the client
// holds a part of these bytes; a weak one or a date doesn't. `etag` is ours, with its quotes.
bool if_range_allows(std::string_view if_range, std::string_view etag) noexcept;

// Whether the client has it already (304): a list of tags, compared weakly, or `*`. A malformed list matches
// nothing from the point where it breaks.
bool if_none_match_hits(std::string_view if_none_match, std::string_view etag) noexcept;

}  // namespace restante
