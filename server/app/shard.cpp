#include "server/app/shard.hpp"

#include <boost/asio/post.hpp>

namespace restante {

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The end of the grace period is divided into steps that all fit into it: reads from slow clients are aborted
// first, so that these still get an answer; then everything is cancelled.
constexpr auto time_to_answer = milliseconds(1000);
constexpr auto time_to_unwind = milliseconds(250);

constexpr std::size_t operator_connections = 16;

}  // namespace

shard::shard(const shard_limits& limits)
    : work_(io_.get_executor()),
      background_(get_executor()),
      requests_(get_executor()),
      control_(get_executor()),
      connection_places_(get_executor(), limits.connections),
      operator_places_(get_executor(), operator_connections),
      handshake_places_(get_executor(), limits.handshakes),
      strangers_(limits.strangers),
      public_context_{requests_,         connections_, connection_places_,
                      handshake_places_, strangers_,   limits.handshake_timeout},
      operator_context_{requests_, connections_, operator_places_, handshake_places_, operator_strangers_}
{
    add_connection_metrics();
    count_restarts_of(background_);
    count_restarts_of(requests_);
}

shard::~shard()
{
    join();
}

void shard::add_connection_metrics()
{
    auto& strangers = metrics_.gauge("molecule_anonymous_connections",
                                     "Client connections on which no request has been authorised yet.");
    const auto counter = [this](std::string_view why) -> metric_set::number& {
        return metrics_.counter("molecule_anonymous_connections_closed_total",
                                "Connections without an authorised request that were closed, because their "
                                "address had too many or to make room for another.",
                                {{"reason", why}});
    };
    metrics_.before_scrape(
        [this, &strangers, &refused = counter("too_many"), &evicted = counter("replaced")] {
            strangers.set(static_cast<double>(strangers_.size()));
            refused.set(static_cast<double>(strangers_.refused() + operator_strangers_.refused()));
            evicted.set(static_cast<double>(strangers_.evicted() + operator_strangers_.evicted()));
        });
}

void shard::count_restarts_of(task_group& tasks)
{
    tasks.on_restart([this](std::string_view task) {
        metrics_
            .counter("molecule_task_restarts_total", "Long-lived tasks that failed and were started again.",
                     {{"task", task}})
            .add();
    });
}

void shard::add_listener(tcp_acceptor acceptor, transport kind, const session_environment& env)
{
    const auto serve = [&env](connection& conn) { return run_session(conn, env); };
    auto& loop = accept_loops_.emplace_back(std::move(acceptor), kind, public_context_, serve);
    requests_.spawn("listener", loop.run());
}

void shard::add_operator_listener(tcp_acceptor acceptor, const session_environment& env)
{
    const auto serve = [&env](connection& conn) { return run_session(conn, env); };
    auto& loop = accept_loops_.emplace_back(std::move(acceptor), transport::plain, operator_context_, serve);
    requests_.spawn("listener", loop.run());
}

void shard::start()
{
    thread_ = std::thread([this] { io_.run(); });
}

bool shard::join()
{
    if (thread_.joinable())
        thread_.join();
    return left_nothing_;
}

void shard::stop(milliseconds grace)
{
    asio::post(io_, [this, grace] {
        if (!requests_.stop_requested())
            control_.spawn("shutdown", shut_down(grace));
    });
}

awaitable<void> shard::shut_down(milliseconds grace)
{
    const auto end = steady::now() + grace - 3 * time_to_unwind;
    requests_.request_stop();
    for (auto& loop : accept_loops_)
        loop.stop();
    for (auto& connection : connections_)
        connection.stop();

    bool done = co_await requests_.finished(end - time_to_answer);
    if (!done) {
        for (auto& connection : connections_)
            connection.abort_reading();
        done = co_await requests_.finished(end);
    }
    if (!done) {
        requests_.cancel();
        done = co_await requests_.finished(end + time_to_unwind);
    }
    const bool quiet = co_await background_.shutdown(time_to_unwind, time_to_unwind);
    left_nothing_ = done && quiet;
    work_.reset();
    if (!left_nothing_)
        io_.stop();
}

}  // namespace restante
