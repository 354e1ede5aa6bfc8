#pragma once

#include "http/session/http_session.hpp"
#include "server/app/shard_set.hpp"

#include <memory>
#include <vector>

namespace restante::test {

// One shard with the given routes on free ports of the loopback: plain, and TLS if a context is given. It has
// no database and no services; handlers bring what they need.
class test_server {
public:
    struct options {
        std::vector<route> routes;
        access_policy* access = nullptr;
        session_timeouts timeouts = {};
        std::vector<std::string> allowed_origins = {};
        tls_context tls = nullptr;
        shard_limits limits{1000, 200};
        memory_budget* memory = nullptr;  // null: unlimited
    };

    explicit test_server(options chosen);
    ~test_server();

    std::uint16_t port() const { return port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    void stop(std::chrono::milliseconds grace) { shards_.stop(grace); }
    bool join() { return shards_.join(); }

    // Its stop callbacks run when the server stops.
    task_group& requests() { return shards_[0].requests(); }

    // What /metrics would show.
    std::string metrics_text();

private:
    options chosen_;
    shard_set shards_;
    cors_policy cors_;
    request_metrics metrics_;
    session_environment environment_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
};

}  // namespace restante::test
