#include "http/client/client_request.hpp"

namespace restante {

namespace {

void append_field(std::string& out, std::string_view name, std::string_view value)
{
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
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
    if (how == request_framing::length)
        append_field(head, "Content-Length", std::to_string(length));
    if (how == request_framing::chunks)
        append_field(head, "Transfer-Encoding", "chunked");
    head += "\r\n";
    return head;
}

interim_found find_interim(std::string_view received) noexcept
{
    constexpr std::string_view first = "HTTP/1.1 100";
    constexpr std::size_t longest = 1024;
    const auto seen = received.substr(0, first.size());
    if (seen != first.substr(0, seen.size()) || received.empty())
        return {};
    if (const auto end = received.find("\r\n\r\n"); end != std::string_view::npos && seen == first)
        return {interim::complete, end + 4};
    if (received.size() > longest)
        return {};
    return {interim::incomplete, 0};
}

}  // namespace restante
