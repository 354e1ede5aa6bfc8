#include "http/message/head_scanner.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr bool is_control(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
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
        if (in_request_line() && at_ == max_request_line + 2)
            return refuse(errc::uri_too_long);
        if (!in_request_line() && at_ == block_start_ + max_block)
            return refuse(errc::headers_too_large);
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
