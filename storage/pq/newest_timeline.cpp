#include "storage/pq/newest_timeline.hpp"

namespace restante::pq {

bool newest_timeline::is_replaced(const timeline_id& met, clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    auto& newest = newest_[met.cluster];
    const bool forgotten = met.cluster == 0 && now - newest.met_at >= memory;
    if (met.number < newest.number && !forgotten)
        return true;
    newest = {met.number, now};
    return false;
}

bool newest_timeline::is_older(const timeline_id& met) const
{
    const std::lock_guard lock(mutex_);
    const auto found = newest_.find(met.cluster);
    return found != newest_.end() && met.number < found->second.number;
}

bool newest_timeline::has_met(std::int64_t cluster) const
{
    const std::lock_guard lock(mutex_);
    return newest_.contains(cluster);
}

}  // namespace restante::pq
