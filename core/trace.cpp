#include "core/trace.hpp"

#include "core/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace restante {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

// version "-" trace-id "-" parent-id "-" flags
constexpr std::size_t id_at = 3, parent_at = 36, flags_at = 53, size_of_version_0 = 55;

// The standard forbids an id of zeros only.
void write_random(std::span<char, 16> out)
{
    auto bits = std::max<std::uint64_t>(1, make_random_bits());
    for (char& digit : out) {
        digit = digits[bits & 0x0F];
        bits >>= 4;
    }
}

bool is_hex(std::string_view text)
{
    return text.find_first_not_of(digits) == std::string_view::npos;
}

bool is_id(std::string_view text)
{
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

// A later version may be longer, and begins like this one.
bool has_shape(std::string_view text)
{
    if (text.size() < size_of_version_0 || text[2] != '-' || text[35] != '-' || text[52] != '-')
        return false;
    if (text.size() == size_of_version_0)
        return true;
    return !text.starts_with("00") && text[size_of_version_0] == '-';
}

bool is_valid(std::string_view text)
{
    return has_shape(text) && is_hex(text.substr(0, 2)) && !text.starts_with("ff") &&
           is_id(text.substr(id_at, 32)) && is_id(text.substr(parent_at, 16)) &&
           is_hex(text.substr(flags_at, 2));
}

}  // namespace

trace_context::trace_context(std::string_view traceparent)
{
    write_random(span_);
    if (!is_valid(traceparent)) {
        write_random(std::span(id_).first<16>());
        write_random(std::span(id_).last<16>());
        return;
    }
    std::copy_n(traceparent.begin() + id_at, id_.size(), id_.begin());
    std::copy_n(traceparent.begin() + parent_at, 16, parent_.emplace().begin());
    sampled_ = digits.find(traceparent[flags_at + 1]) & 1;  // the other flags are not ours to set
}

std::string trace_context::traceparent() const
{
    std::string out = "00-";
    out += id();
    out += '-';
    out += span();
    out += sampled_ ? "-01" : "-00";
    return out;
}

}  // namespace restante
