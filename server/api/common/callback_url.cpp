#include "server/api/common/callback_url.hpp"

#include "http/client/client_error.hpp"
#include "http/client/name_resolver.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr auto time_to_resolve = std::chrono::seconds(3);

}  // namespace

result<http_url> check_callback_url(std::string_view url, const address_policy& allowed)
{
    auto read = parse_http_url(url);
    if (!read)
        return read.error();
    const auto& origin = read->origin;
    if (origin.address && !allowed.allows(*origin.address))
        return client_errc::address_refused;
    if (is_localhost_name(origin.host) && !allowed.loopback)
        return client_errc::address_refused;
    return read;
}

awaitable<error_code> check_new_callback(std::string url, const callback_rules& rules)
{
    const auto read = check_callback_url(url, rules.allowed);
    if (!read)
        co_return read.error();
    if (read->origin.address)
        co_return error_code{};
    const auto until = std::chrono::steady_clock::now() + time_to_resolve;
    const auto found = co_await rules.names.resolve(read->origin.host, until, {});
    const auto is_allowed = [&](const asio::ip::address& each) { return rules.allowed.allows(each); };
    if (found && !std::all_of(found->begin(), found->end(), is_allowed))
        co_return client_errc::address_refused;
    co_return error_code{};
}

}  // namespace restante
