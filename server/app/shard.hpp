#pragma once

#include "core/asio.hpp"
#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "http/net/accept_loop.hpp"
#include "http/net/admission.hpp"
#include "http/session/http_session.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <deque>
#include <thread>

namespace restante {

struct shard_limits {
    std::size_t connections = 0;
    std::size_t handshakes = 0;
    std::size_t strangers = 0;  // connections of one address that have not authenticated; 0: no limit
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
};

// One thread with an io_context of its own and everything that runs on it. Shards share nothing; they talk by
// posting to each other's executor. Build it, give it listeners, then start() it; after that only post to it.
class shard {
public:
    explicit shard(const shard_limits& limits);
    ~shard();
    shard(const shard&) = delete;
    shard& operator=(const shard&) = delete;

    executor get_executor() { return io_.get_executor(); }
    metric_set& metrics() { return metrics_; }
    task_group& requests() { return requests_; }
    task_group& background() { return background_; }

    // Counts, as a metric by task, what this group restarts. The two groups above are counted already.
    void count_restarts_of(task_group& tasks);

    // The environment must live as long as the shard.
    void add_listener(tcp_acceptor acceptor, transport kind, const session_environment& env);
    // Has a connection limit of its own, so that operators get in when the public one is reached.
    void add_operator_listener(tcp_acceptor acceptor, const session_environment& env);
    void set_tls(tls_context context) { public_context_.tls = std::move(context); }

    void start();

    // Graceful shutdown, posted to the shard: stops accepting, closes idle connections, notifies parked
    // requests, lets the running ones finish within the grace period, cancels what is left, and ends the
    // thread. Idempotent.
    void stop(std::chrono::milliseconds grace);

    // False if a task ignored even its cancellation. Then nothing can be destroyed safely.
    bool join();

private:
    void add_connection_metrics();
    awaitable<void> shut_down(std::chrono::milliseconds grace);

    asio::io_context io_{1};
    asio::executor_work_guard<executor> work_;
    metric_set metrics_;
    task_group background_;
    task_group requests_;
    task_group control_;
    connection_list connections_;
    admission connection_places_;
    admission operator_places_;
    admission handshake_places_;
    stranger_table strangers_;
    stranger_table operator_strangers_{0};
    accept_context public_context_;
    accept_context operator_context_;
    std::deque<accept_loop> accept_loops_;
    std::thread thread_;
    bool left_nothing_ = true;
};

}  // namespace restante
