// The memory that an idle connection costs the server.
#include "bench/many_clients.hpp"
#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

namespace restante::bench {

namespace {

awaitable<measurement> hold_idle(const scenario_context& context, std::size_t count)
{
    using clock = std::chrono::steady_clock;
    measurement made;
    made.work = with_commas(count) + (context.server.tls ? " idle TLS connections" : " idle connections");
    made.connections = static_cast<unsigned>(count);
    context.processes.reset_peak();
    const auto empty = context.processes.resident();
    const auto began = clock::now();
    const auto all = co_await open_many(context, context.server, count, made.latency);
    made.seconds = std::chrono::duration<double>(clock::now() - began).count();
    const auto full = context.processes.resident();
    if (empty && full)
        made.facts.emplace_back("server memory for each connection, KiB",
                                (*full - *empty) / 1024 / static_cast<double>(count));
    made.peak_bytes = context.processes.peak();
    co_return made;
}

}  // namespace

std::vector<measurement> run_idle(const scenario_context& context, const std::string& argument)
{
    asio::io_context loop(1);
    return {run_to_end(loop, hold_idle(context, read_count(argument)))};
}

}  // namespace restante::bench
