#include "http/client/client_request.hpp"

#include <algorithm>

namespace restante {

namespace {

void append_field(std::string& out, std::string_view name, std::string_view value)
{
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
}

// In the pattern an x is any digit.
bool matches_in_pattern(char c, char pattern)
{
    return pattern == 'x' ? c >= '0' && c <= '9' : c == pattern;
}

}  // namespace

std::string make_request_head(const client_request& what, request_framing how, std::uint64_t length)
{
    std::string head;
    head.reserve(512);
    head += std::string_view(to_string(what.method));
    head += ' ';
    head += what.target;
    head += " HTTP/1.1\r\n";
    append_field(head, "Host", what.to.authority());
    for (const auto& field : what.fields)
        append_field(head, field.name, field.value);
    if (what.trace)
        append_field(head, "traceparent", what.trace->traceparent());
    if (how == request_framing::length)
        append_field(head, "Content-Length", std::to_string(length));
    if (how == request_framing::chunks)
        append_field(head, "Transfer-Encoding", "chunked");
    head += "\r\n";
    return head;
}

interim_found find_interim(std::string_view received) noexcept
{
    constexpr std::string_view first = "HTTP/1.1 1xx";
    const auto seen = received.substr(0, first.size());
    if (received.empty() || !std::equal(seen.begin(), seen.end(), first.begin(), matches_in_pattern) ||
        seen.ends_with("101"))
        return {};
    if (const auto end = received.find("\r\n\r\n"); end != std::string_view::npos)
        return {interim::complete, end + 4};
    if (received.size() > longest_answer_head)
        return {};
    return {interim::incomplete, 0};
}

}  // namespace restante
