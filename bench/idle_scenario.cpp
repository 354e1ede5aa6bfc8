// What a connection costs that has been answered and stays.
#include "bench/crew.hpp"
#include "bench/many_clients.hpp"
#include "bench/setup.hpp"

namespace restante::bench {

namespace {

awaitable<measurement> hold_idle(const surroundings& world, std::size_t count)
{
    using clock = std::chrono::steady_clock;
    measurement made;
    made.work = with_commas(count) + (world.server.tls ? " idle TLS connections" : " idle connections");
    made.connections = static_cast<unsigned>(count);
    world.processes.forget_peak();
    const auto empty = world.processes.resident();
    const auto began = clock::now();
    const auto all = co_await open_many(world, world.server, count, made.latency);
    made.seconds = std::chrono::duration<double>(clock::now() - began).count();
    const auto full = world.processes.resident();
    if (empty && full)
        made.facts.emplace_back("server memory for each connection, KiB",
                                (*full - *empty) / 1024 / static_cast<double>(count));
    made.peak_bytes = world.processes.peak();
    co_return made;
}

}  // namespace

std::vector<measurement> run_idle(const surroundings& world, const std::string& argument)
{
    asio::io_context loop(1);
    return {run_to_end(loop, hold_idle(world, read_count(argument)))};
}

}  // namespace restante::bench
