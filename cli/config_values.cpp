#include "cli/config_values.hpp"

#include "core/loopback.hpp"
#include "core/utf8.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

namespace restante {

namespace {

namespace ip = boost::asio::ip;

struct unit {
    std::string_view name;
    std::int64_t factor;
};

// Largest first: formatting takes the first that divides the value.
constexpr unit duration_units[] = {
    {"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}};
constexpr unit size_units[] = {
    {"TiB", 1ll << 40}, {"GiB", 1ll << 30}, {"MiB", 1ll << 20}, {"KiB", 1ll << 10}, {"B", 1}};

struct quantity {
    std::int64_t number;
    std::string_view unit;
};

std::optional<quantity> split_unit(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (ec != std::errc())
        return std::nullopt;
    return quantity{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::optional<std::int64_t> scale(const quantity& q, std::span<const unit> units)
{
    const auto at = std::find_if(units.begin(), units.end(), [&](const unit& u) { return u.name == q.unit; });
    if (at == units.end() || q.number > std::numeric_limits<std::int64_t>::max() / at->factor ||
        q.number < std::numeric_limits<std::int64_t>::min() / at->factor)
        return std::nullopt;
    return q.number * at->factor;
}

std::string format_with(std::int64_t value, std::span<const unit> units)
{
    const auto divides = [&](const unit& u) { return value % u.factor == 0; };
    const auto at = std::find_if(units.begin(), units.end(), divides);
    if (at == units.end())
        return std::to_string(value);
    return std::to_string(value / at->factor) + std::string(at->name);
}

bool is_host_name(std::string_view text)
{
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    if (text.empty() || text.size() > 253 || text.find_first_not_of(letters) != std::string_view::npos)
        return false;
    // Only digits and dots: an IPv4 address, or a mistyped one.
    if (text.find_first_not_of("0123456789.") != std::string_view::npos)
        return true;
    boost::system::error_code ec;
    ip::make_address_v4(text, ec);
    return !ec;
}

}  // namespace

std::optional<std::int64_t> parse_whole_number(std::string_view text)
{
    const auto q = split_unit(text);
    return q && q->unit.empty() ? std::optional(q->number) : std::nullopt;
}

std::optional<std::chrono::microseconds> parse_duration(std::string_view text)
{
    const auto q = split_unit(text);
    if (!q)
        return std::nullopt;
    if (q->number == 0 && q->unit.empty())
        return std::chrono::microseconds(0);
    const auto micros = scale(*q, duration_units);
    return micros ? std::optional(std::chrono::microseconds(*micros)) : std::nullopt;
}

std::optional<std::int64_t> parse_size(std::string_view text)
{
    const auto q = split_unit(text);
    if (!q)
        return std::nullopt;
    return q->unit.empty() ? q->number : scale(*q, size_units);
}

std::optional<bool> parse_bool(std::string_view text)
{
    for (const std::string_view yes : {"true", "yes", "on", "1"})
        if (text == yes)
            return true;
    for (const std::string_view no : {"false", "no", "off", "0"})
        if (text == no)
            return false;
    return std::nullopt;
}

std::optional<host_port> parse_host_port(std::string_view text)
{
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view port_text = text.substr(colon + 1);

    const auto port = parse_whole_number(port_text);
    if (!port || *port < 0 || *port > 65535 || port_text.front() == '-')
        return std::nullopt;

    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
        boost::system::error_code ec;
        ip::make_address_v6(host, ec);
        if (ec)
            return std::nullopt;
    } else if (!is_host_name(host)) {
        return std::nullopt;
    }
    return host_port{std::string(host), static_cast<std::uint16_t>(*port)};
}

bool is_origin(std::string_view text)
{
    if (text == "*")
        return true;
    for (const std::string_view scheme : {"https://", "http://"})
        if (text.starts_with(scheme)) {
            const std::string host(text.substr(scheme.size()));
            return parse_host_port(host) || parse_host_port(host + ":0");
        }
    return false;
}

std::optional<host_name> parse_host_name(std::string_view text)
{
    std::string name(text);
    if (name != "*" && !parse_host_port(name + ":0"))
        return std::nullopt;
    return host_name{std::move(name)};
}

std::optional<base_url> parse_base_url(std::string_view text)
{
    const auto visible = [](char c) { return c > 0x20 && c < 0x7F && c != '?' && c != '#' && c != '"'; };
    if (text == "*" || !std::all_of(text.begin(), text.end(), visible))
        return std::nullopt;
    const auto host = text.find("://") + 3;
    if (!is_origin(text.substr(0, text.find('/', host))))
        return std::nullopt;
    while (text.ends_with('/'))
        text.remove_suffix(1);
    return base_url{std::string(text)};
}

std::string format_duration(std::chrono::microseconds value)
{
    return value.count() == 0 ? "0s" : format_with(value.count(), duration_units);
}

std::string format_size(std::uint64_t bytes)
{
    return bytes == 0 ? "0" : format_with(static_cast<std::int64_t>(bytes), size_units);
}

std::string format_host_port(const host_port& value)
{
    const bool v6 = value.host.find(':') != std::string::npos;
    return (v6 ? '[' + value.host + ']' : value.host) + ':' + std::to_string(value.port);
}

std::string in_quotes(std::string_view text)
{
    const auto shown = utf8_prefix(text, 80);
    std::string out(shown);
    std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    return '"' + out + (shown.size() < text.size() ? "...\"" : "\"");
}

bool is_loopback(const host_port& where)
{
    if (where.host == "localhost")
        return true;
    boost::system::error_code ec;
    const auto address = ip::make_address(where.host, ec);
    return !ec && is_loopback(address);
}

}  // namespace restante
