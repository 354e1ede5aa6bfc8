#pragma once

#include "cli/settings.hpp"

#include <chrono>

namespace restante {

// When rows may be deleted, and how the sweeper divides its time. Pure decisions, applied by the database's
// clock.
struct retention_policy {
    std::chrono::microseconds acked;     // an acked file is kept this long, for `?recover=true`
    std::chrono::microseconds activity;  // how far back the feed goes
    std::chrono::microseconds interval;  // between two cycles
};

// The settings in the form that the storage calls expect: an ack retention of 0 means the default in the
// setting but "immediately" in the call, where nothing is ever negative.
retention_policy policy_from(const settings& config);

// A cycle ends after 30 s, whatever is left. Each job has its own time budget, so that every backlog shrinks
// in every cycle; unused time is not passed on.
struct cycle_shares {
    std::chrono::milliseconds files = std::chrono::seconds(20);
    std::chrono::milliseconds requests = std::chrono::seconds(5);
    std::chrono::milliseconds activity = std::chrono::seconds(5);
};

// If a cycle ran out of time, the next one follows almost immediately, so that deletion keeps up with
// uploads.
inline constexpr std::chrono::microseconds pause_with_backlog = std::chrono::milliseconds(100);

// Otherwise the pause is the interval with ±10 % jitter (0 ≤ chance < 1), so that replicas that were started
// together do not keep sweeping together.
std::chrono::microseconds pause_before_next(std::chrono::microseconds interval, double chance);

}  // namespace restante
