#pragma once

#include "core/deadline.hpp"
#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "storage/pq/pool.hpp"
#include "storage/standby_circuit.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace restante {

// What became of a read that a standby could have answered. Unless it is one of the first two, the primary
// answers.
enum class standby_outcome {
    served,
    unneeded,  // the primary said that there is nothing to read
    behind,    // the standby has not replayed that far
    ahead,     // it shows what the primary did not show yet
    wrong,     // what it has is not what the primary has
    failed,    // an error, or no answer in time
    skipped,   // it was not asked: it failed or fell behind a moment ago, or has no connection to spare
};

// A connection to a standby, for one read: whatever is asked with it must be answered by the end of its time.
class standby_session {
public:
    standby_session(pq::lease on, deadline::clock::time_point end);
    ~standby_session();
    standby_session(standby_session&&) = delete;
    standby_session& operator=(standby_session&&) = delete;

    pq::connection& operator*() const { return *on_; }
    pq::connection* operator->() const { return &*on_; }

private:
    pq::lease on_;
};

// The connections of one shard to a standby, and whether it is asked. It holds up a caller for `time_limit`
// at most, and then no other one until it has answered in the background.
//
// It says nothing about what the standby has: whoever reads compares that with what the primary says.
class standby {
public:
    static constexpr auto time_limit = std::chrono::milliseconds(250);

    // `to` leads to the standby.
    standby(executor ex, pq::pool_options to, metric_set& metrics);

    // Whether to ask it at all.
    bool usable() const { return pool_.ready() && circuit_.admits(clock::now()); }

    // Null when there is no connection for it; that is counted.
    awaitable<std::unique_ptr<standby_session>> begin_read();

    // Each read ends with one of these. What failed or is wrong keeps others from asking.
    void count(standby_outcome outcome);

    // One sentence while it is not used, free of secrets.
    std::optional<std::string> trouble() const;

    // Keeps the connections open once the primary is known, whose cluster they must lead to. Ends after
    // stop().
    awaitable<void> run_pool(const pq::connection_pool& primary);
    // Asks a standby that failed whether it is back.
    awaitable<void> run_probes(task_group& tasks);
    void stop();

private:
    using clock = std::chrono::steady_clock;

    awaitable<bool> answers();
    void note_failure(standby_outcome outcome);

    executor ex_;
    pq::connection_pool pool_;
    standby_circuit circuit_;
    std::array<metric_set::number*, 7> counts_{};
    bool stopped_ = false;
};

}  // namespace restante
