#include "core/memory_budget.hpp"

namespace restante {

std::uint64_t memory_budget::ceiling(memory_use what) const
{
    switch (what) {
        case memory_use::spool: return bytes_.limit() / 4 * 3;
        case memory_use::stranger: return bytes_.limit() / 8;
        default: return bytes_.limit();
    }
}

bool memory_budget::take(memory_use what, const uuid& owner, std::uint64_t bytes)
{
    auto& account = of(what);
    const auto after = account.used.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (after <= ceiling(what) && bytes_.take(owner, bytes))
        return true;
    account.used.fetch_sub(bytes, std::memory_order_relaxed);
    account.refusals.fetch_add(1, std::memory_order_relaxed);
    return false;
}

void memory_budget::give(memory_use what, const uuid& owner, std::uint64_t bytes)
{
    of(what).used.fetch_sub(bytes, std::memory_order_relaxed);
    bytes_.give(owner, bytes);
}

bool memory_budget::has_room(memory_use what, const uuid& owner, std::uint64_t bytes)
{
    if (used(what) + bytes <= ceiling(what) && bytes_.has_room(owner, bytes))
        return true;
    of(what).refusals.fetch_add(1, std::memory_order_relaxed);
    return false;
}

}  // namespace restante
