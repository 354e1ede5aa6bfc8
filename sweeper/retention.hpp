#pragma once

#include <chrono>

namespace restante {

// When rows may be deleted, and how the sweeper divides its time. Pure decisions, applied by the database's
// clock.
struct retention_policy {
    std::chrono::microseconds acked;     // an acked file is kept this long, for `?recover=true`
    std::chrono::microseconds activity;  // how far back the feed goes, and receipts
    std::chrono::microseconds interval;  // between two cycles
};

// A cycle ends after 30 s, whatever is left. Each job has a share of its own, so that every backlog shrinks
// in every cycle; what a job leaves over is not handed on.
struct cycle_shares {
    std::chrono::milliseconds files = std::chrono::seconds(20);
    std::chrono::milliseconds requests = std::chrono::seconds(4);
    std::chrono::milliseconds activity = std::chrono::seconds(3);
    std::chrono::milliseconds receipts = std::chrono::seconds(3);
};

// If a cycle ran out of time, the next one follows almost immediately, so that deletion keeps up with
// uploads.
inline constexpr std::chrono::microseconds pause_with_backlog = std::chrono::milliseconds(100);

// Otherwise the pause is the interval with ±10 % jitter (0 ≤ chance < 1), so that replicas that were started
// together do not keep sweeping together.
std::chrono::microseconds pause_before_next(std::chrono::microseconds interval, double chance);

}  // namespace restante
