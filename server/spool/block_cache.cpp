#include "server/spool/block_cache.hpp"

#include "core/file_io.hpp"

#include <algorithm>
#include <new>
#include <sanitizer/asan_interface.h>

namespace restante {

namespace {

constexpr auto alignment = std::align_val_t(direct_block);

// Rare enough that filling it again costs nothing.
constexpr auto interval = std::chrono::seconds(15);

}  // namespace

block_cache& block_cache::of_process()
{
    static block_cache cache;
    return cache;
}

char* block_cache::take(std::size_t size)
{
    if (char* const block = find(size))
        return block;
    return static_cast<char*>(::operator new(size, alignment));
}

char* block_cache::find(std::size_t size)
{
    const std::lock_guard lock(mutex_);
    // The last one is the warmest.
    const auto found =
        std::find_if(free_.rbegin(), free_.rend(), [&](const free_block& each) { return each.size == size; });
    if (found == free_.rend())
        return nullptr;
    char* const block = found->begin;
    free_.erase(std::next(found).base());
    held_ -= size;
    ASAN_UNPOISON_MEMORY_REGION(block, size);
    return block;
}

void block_cache::give_back(char* block, std::size_t size) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        if (held_ + size <= limit) {
            // Who still uses it is found by the sanitizer, as if it were freed.
            ASAN_POISON_MEMORY_REGION(block, size);
            free_.push_back({block, size});
            held_ += size;
            return;
        }
    }
    ::operator delete(block, alignment);
}

void block_cache::clear() noexcept
{
    const std::lock_guard lock(mutex_);
    for (const auto& each : free_) {
        ASAN_UNPOISON_MEMORY_REGION(each.begin, each.size);
        ::operator delete(each.begin, alignment);
    }
    free_.clear();
    held_ = 0;
}

std::size_t block_cache::held() const
{
    const std::lock_guard lock(mutex_);
    return held_;
}

awaitable<void> run_block_return(task_group& tasks)
{
    while (!co_await tasks.stopped_within(interval))
        block_cache::of_process().clear();
}

}  // namespace restante
