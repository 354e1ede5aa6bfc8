#include "bench/many_clients.hpp"

#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

#include <charconv>
#include <sys/resource.h>

namespace restante::bench {

namespace {

constexpr unsigned openers = 32;

// Raises the limit on descriptors as far as allowed. If that is too low, fails now and not after thousands of
// handshakes.
void check_descriptors(std::size_t count)
{
    rlimit limit = {};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < count + 64)
        throw failure("the limit on open files is " + std::to_string(limit.rlim_cur) + ", too low for " +
                      std::to_string(count) + " connections (ulimit -n)");
}

awaitable<void> open_next(const scenario_context& context, const target& server, client_list& all,
                          std::size_t& next, histogram& took)
{
    using clock = std::chrono::steady_clock;
    const executor ex = co_await asio::this_coro::executor;
    const auto request = plain_request("/healthz");
    while (next < all.size()) {
        const std::size_t mine = next++;
        all[mine] = std::make_unique<client>(ex, server, small_buffer);
        const auto from = source_address(context, mine);
        const auto began = clock::now();
        co_await open_or_fail(*all[mine], server, from);
        co_await exchange_or_fail(*all[mine], request);
        took.record(clock::now() - began);
        context.progress.show("opening connections: " + with_commas(mine + 1) + " of " +
                              with_commas(all.size()));
    }
}

}  // namespace

awaitable<client_list> open_many(const scenario_context& context, const target& server, std::size_t count,
                                 histogram& took)
{
    check_descriptors(count);
    const executor ex = co_await asio::this_coro::executor;
    client_list all(count);
    std::size_t next = 0;
    wait_group tasks(ex);
    for (unsigned i = 0; i < openers; ++i)
        tasks.add(open_next(context, server, all, next, took));
    co_await tasks.wait();
    co_return all;
}

awaitable<double> read_gauge(const scenario_context& context, std::string_view name)
{
    const auto& place = context.opts.metrics;
    if (!place)
        throw failure("this workload needs --metrics HOST:PORT, to read how many polls are parked");
    constexpr std::size_t room = 512 * 1024;
    const target metrics{.endpoint = {asio::ip::make_address(place->host), place->port}};
    const executor ex = co_await asio::this_coro::executor;
    client link(ex, metrics, room);
    co_await open_or_fail(link, metrics);
    const auto request = plain_request("/metrics");
    const auto got = co_await exchange_or_fail(link, request);
    const auto line = "\n" + std::string(name) + " ";
    const auto at = got.body.find(line);
    double value = 0;
    if (at == std::string_view::npos)
        throw failure("the metrics have no " + std::string(name));
    const auto text = got.body.substr(at + line.size());
    std::from_chars(text.data(), text.data() + text.size(), value);
    co_return value;
}

}  // namespace restante::bench
