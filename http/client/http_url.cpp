#include "http/client/http_url.hpp"

#include "core/text.hpp"
#include "http/client/client_error.hpp"

#include <boost/url/parse.hpp>

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

result<http_url> parse_http_url(std::string_view text)
{
    if (text.size() > longest_url)
        return client_errc::bad_url;
    const auto url = boost::urls::parse_uri(text);
    if (!url || url->has_userinfo() || url->has_query() || url->has_fragment())
        return client_errc::bad_url;
    http_url read;
    read.origin.tls = iequals(url->scheme(), "https");
    if (!read.origin.tls && !iequals(url->scheme(), "http"))
        return client_errc::bad_url;
    if (url->has_port() && !url->port().empty() && url->port_number() == 0)
        return client_errc::bad_url;
    read.origin.port = url->port_number() != 0 ? url->port_number() : read.origin.tls ? 443 : 80;
    const std::string_view host = url->encoded_host();
    if (!set_host(read.origin, host))
        return client_errc::bad_url;
    read.path = std::string_view(url->encoded_path());
    return read;
}

}  // namespace restante
