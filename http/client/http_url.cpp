#include "http/client/http_url.hpp"

#include "core/text.hpp"
#include "http/client/client_error.hpp"

#include <algorithm>
#include <charconv>

namespace restante {

namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_url = 2048;

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// 10, 012 or 0xa. A bare 0x is 0 to inet_aton.
std::optional<std::uint64_t> parse_number(std::string_view text)
{
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
        if (text.empty())
            return 0;
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    std::uint64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (ec != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// Whether a resolver may take this for an address: the last label begins like a number.
bool ends_in_number(std::string_view host)
{
    const auto dot = host.rfind('.');
    const auto last = dot == std::string_view::npos ? host : host.substr(dot + 1);
    return std::all_of(last.begin(), last.end(), is_digit) || parse_number(last).has_value();
}

bool is_label(std::string_view label)
{
    const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
    return !label.empty() && label.size() <= longest_label && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), fits);
}

bool is_name(std::string_view host)
{
    if (host.size() > longest_name)
        return false;
    for (;;) {
        const auto dot = host.find('.');
        if (!is_label(host.substr(0, dot)))
            return false;
        if (dot == std::string_view::npos)
            return true;
        host.remove_prefix(dot + 1);
    }
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

bool set_address(http_origin& origin, const ip::address& address)
{
    origin.address = address;
    origin.host = address.to_string();
    return true;
}

bool set_ipv6(http_origin& origin, std::string_view text)
{
    error_code ec;
    const auto address = ip::make_address_v6(text, ec);
    return !ec && text.find('%') == std::string_view::npos && set_address(origin, address);
}

bool set_host(http_origin& origin, std::string_view given)
{
    if (given.starts_with('['))
        return given.ends_with(']') && set_ipv6(origin, given.substr(1, given.size() - 2));
    auto host = lower(given);
    if (host.ends_with('.'))
        host.pop_back();
    if (!is_name(host))
        return false;
    if (ends_in_number(host)) {
        const auto address = parse_any_ipv4(host);
        return address && set_address(origin, *address);
    }
    origin.host = std::move(host);
    return true;
}

bool take_scheme(std::string_view& text, bool& tls)
{
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!iequals(text.substr(0, scheme.size()), scheme))
            continue;
        text.remove_prefix(scheme.size());
        tls = scheme.size() == 8;
        return true;
    }
    return false;
}

bool set_port(http_origin& origin, std::string_view digits)
{
    const bool plain =
        !digits.empty() && digits.size() <= 5 && std::all_of(digits.begin(), digits.end(), is_digit);
    unsigned port = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (!plain || port == 0 || port > 65535)
        return false;
    origin.port = static_cast<std::uint16_t>(port);
    return true;
}

// A host and perhaps a port. User information and escapes are no part of either.
bool set_authority(http_origin& origin, std::string_view text)
{
    const auto host_end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
    const auto host = text.substr(0, host_end);
    const auto rest = text.substr(host.size());
    origin.port = origin.tls ? 443 : 80;
    return set_host(origin, host) &&
           (rest.empty() || (rest.front() == ':' && set_port(origin, rest.substr(1))));
}

// RFC 3986: letters, digits, some marks, and escapes of two hexadecimal digits. No query, no fragment.
bool is_path(std::string_view path)
{
    constexpr std::string_view marks = "/-._~!$&'()*+,;=:@";
    const auto is_hex = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (c == '%' && i + 2 < path.size() && is_hex(path[i + 1]) && is_hex(path[i + 2]))
            continue;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !is_digit(c) && marks.find(c) == std::string_view::npos)
            return false;
    }
    return true;
}

}  // namespace

std::string http_origin::authority() const
{
    std::string text = address && address->is_v6() ? '[' + host + ']' : host;
    if (port != (tls ? 443 : 80))
        text += ':' + std::to_string(port);
    return text;
}

bool is_localhost_name(std::string_view host) noexcept
{
    return host == "localhost" || host.ends_with(".localhost");
}

std::optional<ip::address_v4> parse_any_ipv4(std::string_view text) noexcept
{
    std::uint64_t value = 0;
    for (unsigned parts = 1; parts <= 4; ++parts) {
        const auto dot = text.find('.');
        const auto number = text.substr(0, dot).empty() ? std::nullopt : parse_number(text.substr(0, dot));
        if (!number)
            return std::nullopt;
        if (dot == std::string_view::npos) {
            // The last number fills what is left of the 32 bits.
            const auto room = 8 * (5 - parts);
            if (*number >> room != 0)
                return std::nullopt;
            return ip::address_v4(static_cast<std::uint32_t>(value << room | *number));
        }
        if (*number > 255)
            return std::nullopt;
        value = value << 8 | *number;
        text.remove_prefix(dot + 1);
    }
    return std::nullopt;
}

// By hand: Boost.URL 1.81 takes http://127.0.0.1.example/ for the host 127.0.0.1 with the path .example/.
result<http_url> parse_http_url(std::string_view text)
{
    if (text.size() > longest_url)
        return client_errc::bad_url;
    http_url read;
    if (!take_scheme(text, read.origin.tls))
        return client_errc::bad_url;
    const auto authority = text.substr(0, text.find('/'));
    const auto path = text.substr(authority.size());
    if (!set_authority(read.origin, authority) || !is_path(path))
        return client_errc::bad_url;
    read.path = path;
    return read;
}

}  // namespace restante
