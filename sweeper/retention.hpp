#pragma once

#include <chrono>

namespace restante {

// When rows may go, and how the sweeper spends its time. Pure decisions: the database's clock applies them.
struct retention_policy {
    std::chrono::microseconds acked;     // an acked file is kept this long, for `?recover=true`
    std::chrono::microseconds activity;  // the feed reaches back this far
    std::chrono::microseconds interval;  // between two cycles
};

// A cycle ends after 30 s, whatever is left. Each job has a share of its own, so that every backlog shrinks
// in every cycle; what a job leaves over is not handed on.
struct cycle_shares {
    std::chrono::milliseconds files = std::chrono::seconds(20);
    std::chrono::milliseconds requests = std::chrono::seconds(5);
    std::chrono::milliseconds activity = std::chrono::seconds(5);
};

// When a cycle had more to do than time the next one follows at once: what comes in all day must also go.
inline constexpr std::chrono::microseconds pause_with_backlog = std::chrono::milliseconds(100);

// The pause otherwise: the interval, a tenth shorter or longer by chance (0 ≤ chance < 1), so
// that replicas that were started together do not sweep together for ever.
std::chrono::microseconds pause_before_next(std::chrono::microseconds interval, double chance);

}  // namespace restante
