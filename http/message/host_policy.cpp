#include "http/message/host_policy.hpp"

#include "core/loopback.hpp"
#include "http/message/field_grammar.hpp"
#include "http/message/request_target.hpp"

#include <algorithm>
#include <optional>

namespace restante {

namespace {

namespace ip = boost::asio::ip;

// In an IPv6 address colons are inside the brackets.
std::string_view without_port(std::string_view host_and_port)
{
    const auto colon = host_and_port.rfind(':');
    const auto bracket = host_and_port.rfind(']');
    if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
        return host_and_port;
    return host_and_port.substr(0, colon);
}

std::optional<ip::address> parse_address(std::string_view host)
{
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    boost::system::error_code ec;
    const auto address = ip::make_address(std::string(host), ec);
    return ec ? std::nullopt : std::optional(address);
}

bool holds_star(const std::vector<std::string>& names)
{
    return std::find(names.begin(), names.end(), "*") != names.end();
}

}  // namespace

host_policy::host_policy(std::vector<std::string> names, bool any, bool any_address)
    : names_(std::move(names)), any_(any || holds_star(names_)), any_address_(any_address)
{
}

host_policy host_policy::on_loopback(std::vector<std::string> names)
{
    return {std::move(names), false, false};
}

host_policy host_policy::elsewhere(std::vector<std::string> names)
{
    const bool any = names.empty();
    return {std::move(names), any, true};
}

bool host_policy::serves(std::string_view host_and_port) const
{
    if (any_ || host_and_port.empty())
        return true;
    const auto host = without_port(host_and_port);
    const auto is_it = [&](const std::string& name) { return iequals(host, name); };
    if (iequals(host, "localhost") || std::any_of(names_.begin(), names_.end(), is_it))
        return true;
    const auto address = parse_address(host);
    return address && (any_address_ || is_loopback(*address));
}

std::string_view requested_host(const request_header& head) noexcept
{
    const auto field = head.find(boost::beast::http::field::host);
    if (field != head.end())
        return field->value();
    const auto absolute = split_absolute_target(head.target());
    return absolute ? absolute->authority : std::string_view();
}

}  // namespace restante
