#include "core/fair_budget.hpp"

#include <algorithm>

namespace restante {

bool fair_budget::allows(std::uint64_t own, std::uint64_t total) const
{
    return total <= limit_ && own <= std::max(limit_ - total, limit_ / granted_part);
}

bool fair_budget::take(const uuid& owner, std::uint64_t bytes)
{
    if (bytes == 0)
        return true;
    const auto total = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (bytes <= limit_ && total <= limit_) {
        auto& [lock, held] = stripe_of(owner);
        const std::lock_guard guard(lock);
        const auto at = held.find(owner);
        const auto own = (at == held.end() ? 0 : at->second) + bytes;
        if (allows(own, total)) {
            if (at == held.end())
                held.emplace(owner, own);
            else
                at->second = own;
            return true;
        }
    }
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
}

void fair_budget::give(const uuid& owner, std::uint64_t bytes)
{
    if (bytes == 0)
        return;
    {
        auto& [lock, held] = stripe_of(owner);
        const std::lock_guard guard(lock);
        const auto at = held.find(owner);
        at->second -= bytes;
        if (at->second == 0)
            held.erase(at);
    }
    used_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool fair_budget::has_room(const uuid& owner, std::uint64_t bytes)
{
    auto& [lock, held] = stripe_of(owner);
    const std::lock_guard guard(lock);
    const auto at = held.find(owner);
    return bytes <= limit_ && allows((at == held.end() ? 0 : at->second) + bytes, used() + bytes);
}

}  // namespace restante
