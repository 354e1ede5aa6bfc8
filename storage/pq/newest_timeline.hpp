#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace restante::pq {

// Timelines are numbered within a cluster: all servers that descend from one initdb bear its identifier.
struct timeline_id {
    std::int64_t cluster = 0;  // 0: our role may not ask
    std::int32_t number = 0;   // 0: a standby
};

// The newest timeline that any session of this process has met. PostgreSQL begins a timeline with every
// promotion, so a primary on an older one has been replaced: it may still accept writes, and would lose them.
//
// Shared by the pools of all shards; any thread may call it.
class newest_timeline {
public:
    using clock = std::chrono::steady_clock;

    // A cluster that was replaced by another one (pg_upgrade, a restored dump) counts from 1 again. Where
    // clusters cannot be told apart, what has not been met for this long is forgotten.
    static constexpr auto memory = std::chrono::minutes(10);

    // Whether a newer one has been met; otherwise this is the newest one of its cluster from now on.
    bool is_replaced(const timeline_id& met, clock::time_point now);

    // Whether a newer one has been met, without remembering anything.
    bool is_older(const timeline_id& met) const;

    // Whether a primary of this cluster has been met.
    bool has_met(std::int64_t cluster) const;

    // PostgreSQL has refused to tell our role which cluster it is; it is not asked again.
    void hide_clusters() { hidden_ = true; }
    bool clusters_are_hidden() const { return hidden_; }

private:
    struct known {
        std::int32_t number = 0;
        clock::time_point met_at;
    };

    mutable std::mutex mutex_;
    std::map<std::int64_t, known> newest_;  // by cluster
    std::atomic<bool> hidden_{false};
};

}  // namespace restante::pq
