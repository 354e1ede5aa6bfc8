#pragma once

#include "server/cors.hpp"
#include "server/http_session.hpp"
#include "server/readiness.hpp"
#include "server/request_metrics.hpp"
#include "server/services.hpp"
#include "server/shard_set.hpp"

namespace restante {

// The objects that one shard serves requests with, built bottom-up: each refers only to those above it.
class shard_app {
public:
    shard_app(const settings& config, shard& home, shard_set& all);
    shard_app(const shard_app&) = delete;
    shard_app& operator=(const shard_app&) = delete;

    const session_environment& public_side() const { return public_; }
    const session_environment& metrics_side() const { return metrics_; }

private:
    readiness readiness_;
    services services_;
    cors_policy cors_;
    request_metrics public_requests_;
    request_metrics metrics_requests_;
    session_environment public_;
    session_environment metrics_;
};

}  // namespace restante
