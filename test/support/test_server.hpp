#pragma once

#include "auth/bulletin.hpp"
#include "cli/settings.hpp"
#include "server/app/shard_app.hpp"

#include <span>

namespace restante::test {

// One shard with the given routes on free loopback ports: plain, and TLS if a context is given. Its handlers
// get the services of a server whose database was never started.
class test_server {
public:
    struct options {
        settings config;
        std::span<const route> routes;
        access_policy* access = nullptr;
        tls_context tls;
        shard_limits limits{1000, 200};
    };

    explicit test_server(options chosen);
    ~test_server();

    std::uint16_t port() const { return port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    void stop(std::chrono::milliseconds grace) { shards_.stop(grace); }
    bool join() { return shards_.join(); }

    // The text of /metrics.
    std::string metrics_text();

private:
    options chosen_;
    spool_budget spools_;
    running_keys keys_;
    bulletin_board bulletin_;
    commit_board commits_;
    shard_set shards_;
    shard_app app_;
    services services_;
    cors_policy cors_;
    request_metrics requests_;
    session_environment environment_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
};

}  // namespace restante::test
