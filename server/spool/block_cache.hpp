#pragma once

#include "core/task_group.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace restante {

// Large blocks that were freed a moment ago, for the next buffer of the same size. The C library maps each
// aligned block anew and unmaps it afterwards; getting its pages from the kernel again and again took a fifth
// of the server's CPU for an upload of 1 MiB. Any thread may use it: a shard takes a block, and a disk's
// thread may be the last to need it.
class block_cache {
public:
    // Buffers grow in steps of two up to 1 MiB: some of each step. Memory that no budget counts.
    static constexpr std::size_t limit = 32 * 1024 * 1024;
    static constexpr std::size_t smallest = 128 * 1024;

    // What all spools use.
    static block_cache& of_process();

    block_cache() { free_.reserve(limit / smallest); }  // giving back never allocates
    block_cache(const block_cache&) = delete;
    block_cache& operator=(const block_cache&) = delete;
    ~block_cache() { clear(); }

    // Begins at a block of the disk.
    char* take(std::size_t size);
    void give_back(char* block, std::size_t size) noexcept;

    void clear() noexcept;
    std::size_t held() const;

private:
    struct free_block {
        char* begin;
        std::size_t size;
    };

    char* find(std::size_t size);

    mutable std::mutex mutex_;
    std::vector<free_block> free_;
    std::size_t held_ = 0;
};

// Periodically empties the cache of the process: without uploads nothing is kept.
awaitable<void> run_block_return(task_group& tasks);

}  // namespace restante
