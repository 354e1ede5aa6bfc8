#include "http/message/head_scanner.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace restante {

namespace {

constexpr bool is_control(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

static_assert(std::endian::native == std::endian::little);

// How many bytes at the beginning can be stepped over at least: no control characters, and no bytes above
// 0x7F unless `any_high`. By words of eight, because a head is read before every request; a rest of less than
// that is left to the caller.
std::size_t plain_bytes(std::string_view text, bool any_high)
{
    constexpr std::uint64_t each = 0x0101010101010101;
    constexpr std::uint64_t high = each * 0x80;
    std::size_t at = 0;
    for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + at, sizeof word);
        const auto below_space = (word - each * 0x20) & ~word;
        const auto deleted = word ^ (each * 0x7F);
        const auto is_delete = (deleted - each) & ~deleted;
        // The lowest bit that is set is that of the first such byte; those above may be borrowed from.
        const auto special = (below_space | is_delete | (any_high ? 0 : word)) & high;
        if (special)
            return at + static_cast<std::size_t>(std::countr_zero(special)) / 8;
    }
    return at;
}

constexpr bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Beast has one error for a malformed request line and for an unsupported version; they have different
// answers. Two spaces exactly, because some servers take everything between the first and the last space as
// the target.
std::optional<errc> inspect_request_line(std::string_view line)
{
    constexpr std::string_view shape = " HTTP/d.d";
    if (line.size() < shape.size() || std::count(line.begin(), line.end(), ' ') != 2)
        return errc::bad_request;
    const auto version = line.substr(line.size() - shape.size());
    if (!version.starts_with(" HTTP/") || !is_digit(version[6]) || version[7] != '.' || !is_digit(version[8]))
        return errc::bad_request;
    if (version != " HTTP/1.1" && version != " HTTP/1.0")
        return errc::http_version_not_supported;
    return std::nullopt;
}

}  // namespace

head_scanner::progress head_scanner::look(std::string_view received)
{
    for (; at_ < received.size(); ++at_) {
        const auto limit = in_request_line() ? max_request_line + 2 : block_start_ + max_block;
        if (!after_cr_)
            at_ += plain_bytes(received.substr(at_, limit - at_), !in_request_line());
        if (at_ == limit)
            return refuse(in_request_line() ? errc::uri_too_long : errc::headers_too_large);
        if (at_ == received.size())
            break;
        const char c = received[at_];
        if (after_cr_) {
            if (c != '\n')
                return refuse(errc::bad_request);
            after_cr_ = false;
            const auto line = received.substr(line_start_, at_ - 1 - line_start_);
            line_start_ = at_ + 1;
            if (const auto seen = end_line(line); seen != progress::incomplete)
                return seen;
        } else if (c == '\r') {
            after_cr_ = true;
        } else if (is_control(c) || (in_request_line() && static_cast<unsigned char>(c) >= 0x80)) {
            return refuse(errc::bad_request);
        }
    }
    return progress::incomplete;
}

head_scanner::progress head_scanner::end_line(std::string_view line)
{
    if (in_request_line()) {
        if (const auto why = inspect_request_line(line))
            return refuse(*why);
        block_start_ = line_start_;
        return progress::incomplete;
    }
    if (line.empty()) {
        size_ = line_start_;
        return progress::complete;
    }
    if (line.front() == ' ' || line.front() == '\t')
        return refuse(errc::bad_request);
    if (++fields_ > max_fields)
        return refuse(errc::headers_too_large);
    return progress::incomplete;
}

head_scanner::progress head_scanner::refuse(errc why)
{
    refusal_ = why;
    return progress::refused;
}

}  // namespace restante
