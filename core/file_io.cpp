#include "core/file_io.hpp"

#include "core/worker_pool.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace restante {

int write_all_at(int file, std::uint64_t offset, std::span<const char> bytes)
{
    while (!bytes.empty()) {
        const auto written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            return ENOSPC;
        if (written < 0)
            return errno;
        offset += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_all_direct(int file, std::uint64_t offset, std::span<const char> bytes)
{
    const bool aligned =
        reinterpret_cast<std::uintptr_t>(bytes.data()) % direct_block == 0 && offset % direct_block == 0;
    const auto blocks = aligned ? bytes.first(bytes.size() - bytes.size() % direct_block) : bytes.first(0);
    const int flags = ::fcntl(file, F_GETFL);
    if (blocks.empty() || flags < 0 || ::fcntl(file, F_SETFL, flags | O_DIRECT) != 0)
        return write_all_at(file, offset, bytes);
    const int error = write_all_at(file, offset, blocks);
    ::fcntl(file, F_SETFL, flags);
    if (error == EINVAL)  // larger blocks than ours
        return write_all_at(file, offset, bytes);
    if (error != 0)
        return error;
    return write_all_at(file, offset + blocks.size(), bytes.subspan(blocks.size()));
}

bool is_cached(int file, std::uint64_t offset, std::size_t length)
{
    char byte = 0;
    iovec block{&byte, 1};
    return ::preadv2(file, &block, 1, static_cast<off_t>(offset + length - 1), RWF_NOWAIT) >= 0;
}

awaitable<std::int64_t> read_at(int file, std::uint64_t offset, std::span<char> into)
{
    iovec block{into.data(), into.size()};
    const auto cached = ::preadv2(file, &block, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (cached >= 0)
        co_return cached;
    auto job = [&]() -> std::int64_t {
        const auto read = ::preadv2(file, &block, 1, static_cast<off_t>(offset), 0);
        return read < 0 ? -errno : read;
    };
    co_return co_await disk_workers().run(job);
}

}  // namespace restante
