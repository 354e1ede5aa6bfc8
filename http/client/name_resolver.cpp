#include "http/client/name_resolver.hpp"

#include "core/name_lookup.hpp"
#include "http/client/client_error.hpp"

namespace restante {

awaitable<result<std::vector<asio::ip::address>>> system_resolver::resolve(std::string name, time_point until,
                                                                           std::stop_token stop)
{
    name_lookup asked(co_await asio::this_coro::executor, std::move(name), name_lookup::kind::reachable);
    auto found = co_await asked.wait_until(until, stop);
    if (stop.stop_requested())
        co_return client_errc::cancelled;
    if (!found)
        co_return client_errc::late;
    if (found->empty())
        co_return client_errc::name_not_found;
    co_return std::move(*found);
}

}  // namespace restante
