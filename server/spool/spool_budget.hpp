#pragma once

#include "core/memory_budget.hpp"
#include "storage/content/content_directory.hpp"

#include <optional>
#include <string>
#include <utility>

namespace restante {

// What all spools of the process may take together: of the memory that everything shares, and of the disk.
struct spool_budget {
    spool_budget(memory_budget& memory_of_all, std::uint64_t disk_limit, std::string where)
        : memory(memory_of_all), disk(disk_limit), directory(std::move(where))
    {
    }

    memory_budget& memory;
    fair_budget disk;
    const std::string directory;
    std::atomic<std::uint64_t> disk_refusals{0};
};

// Where a content store wants to have the files that it will keep, so that they need not be copied; those
// that are no larger than `above` it will not keep.
struct store_directory {
    std::shared_ptr<content_directory> where;
    std::uint64_t above = 0;
};

// The disk that one request of a workspace holds, for all of its files, until the last of them is destroyed.
class disk_claim {
public:
    disk_claim(spool_budget& budget, const uuid& owner, std::optional<store_directory> store = std::nullopt)
        : budget_(budget), owner_(owner), store_(std::move(store))
    {
    }
    ~disk_claim() { budget_.disk.give(owner_, taken_); }
    disk_claim(const disk_claim&) = delete;
    disk_claim& operator=(const disk_claim&) = delete;

    spool_budget& budget() { return budget_; }
    const uuid& owner() const { return owner_; }
    const std::optional<store_directory>& store() const { return store_; }

    // Sets aside what the request has announced, before any of it is read: of two that would not fit
    // together, the second is refused here and not in the middle. False when there is no room.
    bool reserve(std::uint64_t bytes) { return bytes <= taken_ || take(bytes - taken_); }

    // Accounts for bytes that are about to be written. False when there is no room for them.
    bool use(std::uint64_t bytes)
    {
        if (!reserve(used_ + bytes))
            return false;
        used_ += bytes;
        return true;
    }

private:
    bool take(std::uint64_t bytes)
    {
        if (!budget_.disk.take(owner_, bytes)) {
            budget_.disk_refusals.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        taken_ += bytes;
        return true;
    }

    spool_budget& budget_;
    uuid owner_;
    std::optional<store_directory> store_;
    std::uint64_t taken_ = 0;
    std::uint64_t used_ = 0;
};

}  // namespace restante
