// Thousands of agents that send a heartbeat every 30 s each, evenly spread, and what that costs the server
// and PostgreSQL.
#include "bench/many_clients.hpp"
#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr auto period = seconds(30);
// A workspace that registered less than a minute ago is looked up at each beat.
constexpr auto settle = seconds(75);
// What registering and connecting left to do (checkpoints, vacuuming) must not count as the cost of rest.
constexpr auto calm = seconds(20);
constexpr auto rest = seconds(30);

class heartbeat_run {
public:
    heartbeat_run(const scenario_context& context, std::size_t count) : context_(context), count_(count) {}

    awaitable<measurement> run()
    {
        const executor ex = co_await asio::this_coro::executor;
        workspaces_ = co_await register_workspaces(context_, count_);
        histogram opening;
        clients_ = co_await open_many(context_, context_.server, count_, opening);
        context_.progress.show("calming down");
        co_await sleep_until(clock::now() + calm);
        context_.progress.show("at rest");
        const auto resting = co_await measure_for(rest);

        const auto measured =
            std::max<clock::duration>(2 * period, std::chrono::duration_cast<clock::duration>(
                                                      std::chrono::duration<double>(context_.opts.seconds)));
        began_ = clock::now();
        measure_from_ = began_ + settle;
        ends_ = measure_from_ + measured;
        wait_group agents(ex);
        for (std::size_t i = 0; i < count_; ++i)
            agents.add(beat(i));
        context_.progress.show("settling");
        co_await sleep_until(measure_from_);
        const auto rows_before = co_await read_gauge(context_, rows_written);
        context_.progress.show("beating");
        const auto beating = co_await measure_for(measured);
        const auto rows_after = co_await read_gauge(context_, rows_written);
        co_await agents.wait();

        auto made = make_measurement(beating);
        add_shares(made, "server", beating, resting, &usage::server_cpu);
        add_shares(made, "PostgreSQL", beating, resting, &usage::postgres_cpu);
        made.facts.emplace_back("rows written for each heartbeat",
                                (rows_after - rows_before) / static_cast<double>(made.latency.count()));
        co_return made;
    }

private:
    static constexpr auto rows_written = "molecule_presence_rows_written_total";

    struct span {
        usage before;
        usage after;
        double seconds() const { return std::chrono::duration<double>(after.at - before.at).count(); }
    };

    awaitable<void> sleep_until(clock::time_point moment)
    {
        steady_timer pause(co_await asio::this_coro::executor);
        pause.expires_at(moment);
        co_await pause.async_wait(use_tuple);
    }

    awaitable<span> measure_for(clock::duration how_long)
    {
        const auto before = context_.processes.now();
        co_await sleep_until(clock::now() + how_long);
        co_return span{before, context_.processes.now()};
    }

    static double share(const span& of, std::optional<double> usage::* which)
    {
        return 100 * ((of.after.*which).value_or(0) - (of.before.*which).value_or(0)) / of.seconds();
    }

    // The goal is about what heartbeats add to a server that 10,000 connected agents leave in peace.
    static void add_shares(measurement& to, const std::string& who, const span& beating, const span& resting,
                           std::optional<double> usage::* which)
    {
        const auto busy = share(beating, which);
        const auto idle = share(resting, which);
        to.facts.emplace_back(who + ", % of a core", busy);
        to.facts.emplace_back(who + " at rest, % of a core", idle);
        to.facts.emplace_back(who + " for heartbeats, % of a core", busy - idle);
    }

    awaitable<void> beat(std::size_t index)
    {
        const auto request = heartbeat_request(workspaces_[index]);
        const auto offset = period * static_cast<long>(index) / static_cast<long>(count_);
        for (auto next = began_ + offset; next < ends_; next += period) {
            co_await sleep_until(next);
            const auto sent = clock::now();
            co_await exchange_or_fail(*clients_[index], request);
            if (sent >= measure_from_)
                latency_.record(clock::now() - sent);
        }
    }

    measurement make_measurement(const span& beating) const
    {
        measurement made;
        made.work = with_commas(count_) + " agents, a heartbeat every 30 s";
        made.connections = static_cast<unsigned>(count_);
        made.seconds = beating.seconds();
        made.latency = latency_;
        made.set_cpu(beating.before, beating.after, made.latency.count());
        made.peak_bytes = context_.processes.peak();
        return made;
    }

    const scenario_context& context_;
    std::vector<workspace> workspaces_;
    client_list clients_;
    histogram latency_;
    clock::time_point began_;
    clock::time_point measure_from_;
    clock::time_point ends_;
    std::size_t count_;
};

}  // namespace

std::vector<measurement> run_heartbeats(const scenario_context& context, const std::string& argument)
{
    asio::io_context loop(1);
    heartbeat_run agents(context, read_count(argument));  // holds sockets, so the loop must outlive it
    return {run_to_end(loop, agents.run())};
}

}  // namespace restante::bench
