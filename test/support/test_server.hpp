#pragma once

#include "core/settings.hpp"
#include "server/access.hpp"
#include "server/http_session.hpp"
#include "server/readiness.hpp"
#include "server/routes.hpp"
#include "server/shard_set.hpp"

#include <memory>
#include <span>

namespace restante::test {

// One shard with the given routes on a free port of the loopback, plain, and TLS if a context is given.
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
    void set_tls(const tls_context& context) { shards_.set_tls(context); }
    void stop(std::chrono::milliseconds grace) { shards_.stop(grace); }
    bool join() { return shards_.join(); }

    // The value of a counter or gauge as /metrics would show it; the name with its labels.
    std::string metrics_text();

private:
    options chosen_;
    shard_set shards_;
    readiness readiness_;
    services services_;
    cors_policy cors_;
    request_metrics requests_;
    session_environment environment_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
};

}  // namespace restante::test
