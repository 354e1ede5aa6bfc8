#pragma once

#include "core/fair_budget.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace restante {

// What memory is held for. The names are labels of metrics.
enum class memory_use {
    spool,     // files while they are received, or while a large one is sent
    body,      // JSON bodies, and the block that any body is read into
    stranger,  // the same, from somebody who has shown no token
    page,      // rows of the feed as the database sent them
    answer,    // texts that are being sent
    download,  // files up to 1 MiB that are being sent
};
inline constexpr std::array<std::string_view, 6> memory_use_names{"spool", "body",   "stranger",
                                                                  "page",  "answer", "download"};

// The memory that clients can make the process hold, all uses together: --body-memory. Two uses have a
// ceiling of their own: spools, which can go to disk instead, leave a quarter to those that cannot, and
// strangers get an eighth.
class memory_budget {
public:
    explicit memory_budget(std::uint64_t limit) : bytes_(limit) {}

    // False, and nothing taken, when it would be too much; counted as a refusal.
    bool take(memory_use what, const uuid& owner, std::uint64_t bytes);
    void give(memory_use what, const uuid& owner, std::uint64_t bytes);

    // Whether take() would succeed now: asked before a body of known length is read.
    bool has_room(memory_use what, const uuid& owner, std::uint64_t bytes);

    std::uint64_t used() const { return bytes_.used(); }
    std::uint64_t used(memory_use what) const { return of(what).used.load(std::memory_order_relaxed); }
    std::uint64_t refusals(memory_use what) const
    {
        return of(what).refusals.load(std::memory_order_relaxed);
    }

private:
    struct alignas(64) account {
        std::atomic<std::uint64_t> used{0};
        std::atomic<std::uint64_t> refusals{0};
    };

    std::uint64_t ceiling(memory_use what) const;
    account& of(memory_use what) { return accounts_[static_cast<std::size_t>(what)]; }
    const account& of(memory_use what) const { return accounts_[static_cast<std::size_t>(what)]; }

    fair_budget bytes_;
    std::array<account, memory_use_names.size()> accounts_;
};

// Bytes that somebody holds of the budget, until it is destroyed. Without a budget everything is granted.
class memory_charge {
public:
    memory_charge() = default;
    memory_charge(memory_budget* budget, memory_use what, const uuid& owner)
        : budget_(budget), what_(what), owner_(owner)
    {
    }
    memory_charge(memory_charge&& other) noexcept
        : budget_(other.budget_),
          what_(other.what_),
          owner_(other.owner_),
          bytes_(std::exchange(other.bytes_, 0))
    {
    }
    memory_charge& operator=(memory_charge&& other) noexcept
    {
        std::swap(budget_, other.budget_);
        std::swap(what_, other.what_);
        std::swap(owner_, other.owner_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~memory_charge() { release(); }

    // False, and as before, when there is no room for it.
    bool grow_to(std::uint64_t bytes)
    {
        if (!budget_ || bytes <= bytes_)
            return true;
        if (!budget_->take(what_, owner_, bytes - bytes_))
            return false;
        bytes_ = bytes;
        return true;
    }

    bool could_grow_to(std::uint64_t bytes) const
    {
        return !budget_ || bytes <= bytes_ || budget_->has_room(what_, owner_, bytes - bytes_);
    }

    void release()
    {
        if (bytes_ > 0)
            budget_->give(what_, owner_, std::exchange(bytes_, 0));
    }

private:
    memory_budget* budget_ = nullptr;
    memory_use what_ = memory_use::body;
    uuid owner_{};
    std::uint64_t bytes_ = 0;
};

}  // namespace restante
