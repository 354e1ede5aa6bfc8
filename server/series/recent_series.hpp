#pragma once

#include "server/series/series_point.hpp"

#include <deque>
#include <mutex>

namespace restante {

// This server's points of the last three hours, for when the database cannot be asked. One shard adds, all
// may read; the lock is held for a copy.
class recent_series {
public:
    static constexpr std::size_t most = figures_store::kept / series_step;

    void add(series_point point)
    {
        const std::lock_guard lock(mutex_);
        points_.push_back(std::move(point));
        if (points_.size() > most)
            points_.pop_front();
    }

    std::vector<series_point> since(timestamp first) const
    {
        const std::lock_guard lock(mutex_);
        std::vector<series_point> found;
        for (const auto& each : points_)
            if (each.slot >= first)
                found.push_back(each);
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::deque<series_point> points_;
};

}  // namespace restante
