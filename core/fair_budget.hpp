#pragma once

#include "core/ids.hpp"
#include "core/secret_hash.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace restante {

// Bytes of something that the whole process shares, divided fairly among their owners (workspaces). An owner
// may hold as much as stays free for the others: one alone gets half, two a third each, and a newcomer always
// finds room. A small part is granted to everybody while it lasts, however crowded it is.
//
// Any thread may call it. Nobody waits: a lock is held for the look-up in one of many small maps.
class fair_budget {
public:
    explicit fair_budget(std::uint64_t limit) : limit_(limit) {}

    // False, and nothing taken, when it would be too much.
    bool take(const uuid& owner, std::uint64_t bytes);
    void give(const uuid& owner, std::uint64_t bytes);

    std::uint64_t limit() const { return limit_; }
    std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

    // Whether take() would succeed now.
    bool has_room(const uuid& owner, std::uint64_t bytes);

private:
    static constexpr std::uint64_t granted_part = 64;  // of the limit, to every owner

    struct alignas(64) stripe {
        std::mutex lock;
        std::unordered_map<uuid, std::uint64_t, secret_hash> held;
    };

    stripe& stripe_of(const uuid& owner) { return stripes_[secret_hash()(owner) % stripes_.size()]; }
    bool allows(std::uint64_t own, std::uint64_t total) const;

    const std::uint64_t limit_;
    std::atomic<std::uint64_t> used_{0};
    std::array<stripe, 32> stripes_;
};

}  // namespace restante
