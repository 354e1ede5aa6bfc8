#include "storage/content/file_checks.hpp"

#include "core/worker_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <vector>

namespace restante {

namespace {

// What a worker does in one go. It then takes its place behind others who wait for the disk.
constexpr std::uint64_t stretch = 4 * 1024 * 1024;
// Whoever asks for parts of many large files must not keep all workers from their other work.
constexpr std::size_t most_large = 2;
constexpr std::size_t block_bytes = 256 * 1024;

// 0, or the errno; ENODATA when the file ends before.
int hash_stretch(int file, std::uint64_t first, std::uint64_t end, sha256& into)
{
    std::vector<char> block(std::min<std::uint64_t>(block_bytes, end - first));
    while (first < end) {
        const auto wanted = std::min<std::uint64_t>(block.size(), end - first);
        const auto got = ::pread(file, block.data(), wanted, static_cast<off_t>(first));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? ENODATA : errno;
        into.update(std::span<const char>(block).first(static_cast<std::size_t>(got)));
        first += static_cast<std::uint64_t>(got);
    }
    return 0;
}

}  // namespace

awaitable<error_code> file_checks::verify(int file, file_identity which, digest32 digest)
{
    const std::size_t large = which.size > stretch ? 1 : 0;
    while (running_.contains(which.inode) ||
           (large_running_ + large > most_large && !known_.knows(which, digest)))
        co_await ended_.wait();
    if (known_.knows(which, digest))
        co_return error_code{};
    struct end_of_work {
        file_checks& of;
        std::uint64_t inode;
        std::size_t large;
        ~end_of_work()
        {
            of.running_.erase(inode);
            of.large_running_ -= large;
            of.ended_.notify_all();
        }
    } const end{*this, *running_.insert(which.inode).first, large};
    large_running_ += large;
    sha256 hash;
    for (std::uint64_t done = 0; done < which.size; done += stretch) {
        auto job = [&] { return hash_stretch(file, done, std::min(done + stretch, which.size), hash); };
        const int error = co_await disk_workers().run(job);
        if (error != 0)
            co_return RESTANTE_ERROR(error == ENODATA ? errc::content_lost : errc::content_store_unavailable);
    }
    if (hash.finish() != digest)
        co_return RESTANTE_ERROR(errc::content_lost);
    // One that was changed while it was read is not remembered.
    if (identify(file) == which)
        known_.remember(which, digest);
    co_return error_code{};
}

}  // namespace restante
