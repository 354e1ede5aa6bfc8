#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace restante {

// How much memory and disk all bodies of the process may take together. The only thing that shards share on
// an upload's path: two counters that never block.
class spool_budget {
public:
    spool_budget(std::uint64_t memory, std::uint64_t disk, std::string directory)
        : memory_(memory), disk_(disk), directory_(std::move(directory))
    {
    }

    // False, and nothing taken, when it would be too much.
    bool take_memory(std::uint64_t bytes) { return take(memory_used_, memory_, bytes); }
    bool take_disk(std::uint64_t bytes) { return take(disk_used_, disk_, bytes); }
    void give_memory(std::uint64_t bytes) { memory_used_.fetch_sub(bytes, std::memory_order_relaxed); }
    void give_disk(std::uint64_t bytes) { disk_used_.fetch_sub(bytes, std::memory_order_relaxed); }

    // Whether a body of this size would find room now: checked before it is read.
    bool has_room(std::uint64_t bytes) const { return disk_used() + bytes <= disk_; }

    std::uint64_t memory_used() const { return memory_used_.load(std::memory_order_relaxed); }
    std::uint64_t disk_used() const { return disk_used_.load(std::memory_order_relaxed); }
    const std::string& directory() const { return directory_; }

private:
    static bool take(std::atomic<std::uint64_t>& used, std::uint64_t limit, std::uint64_t bytes)
    {
        if (used.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit)
            return true;
        used.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
    }

    const std::uint64_t memory_;
    const std::uint64_t disk_;
    const std::string directory_;
    std::atomic<std::uint64_t> memory_used_{0};
    std::atomic<std::uint64_t> disk_used_{0};
};

}  // namespace restante
