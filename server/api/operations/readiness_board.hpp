#pragma once

#include "core/asio.hpp"
#include "server/api/operations/readiness.hpp"

namespace restante {

// The readiness of all shards of a process. A load balancer asks any one of them and sends requests to all,
// so one that is not ready speaks for the process: otherwise the answer would change from request to request
// while they find a database one after the other.
class readiness_board {
public:
    // Before the shards run.
    void subscribe(executor home, const readiness& of_shard) { shards_.push_back({home, &of_shard}); }

    // Asks each on its own thread. Each reason once; empty: all are ready.
    awaitable<std::vector<std::string>> reasons_not_ready(executor home) const;

private:
    struct subscription {
        executor home;
        const readiness* of_shard;
    };
    std::vector<subscription> shards_;
};

}  // namespace restante
