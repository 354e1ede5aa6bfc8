#include "server/spool/spool.hpp"

#include "core/log.hpp"
#include "core/worker_pool.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace restante {

namespace {

constexpr std::size_t first_step = 16 * 1024;

int open_nameless(const std::string& directory)
{
    const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return file;
    // A file system without O_TMPFILE: the name exists for a moment.
    std::string name = directory + "/restante-spool-XXXXXX";
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0)
        ::unlink(name.c_str());
    return named;
}

bool write_all(int file, std::uint64_t offset, std::span<const char> bytes)
{
    while (!bytes.empty()) {
        const auto written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return false;
        offset += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

// A full disk and a process out of descriptors are temporary; a client may retry.
error_code disk_failure(const char* what, int reason)
{
    log_line(log_level::error, "spool_failed").field("error", what).field("reason", std::strerror(reason));
    const bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EMFILE || reason == ENFILE;
    return RESTANTE_ERROR(is_full ? errc::no_room : errc::io_error);
}

}  // namespace

spool::~spool()
{
    if (file_ >= 0)
        ::close(file_);
}

// Memory is taken from the budget in doubling steps, so that a small file costs little and a large one is
// rarely reallocated.
bool spool::make_room_in_memory(std::size_t more)
{
    const std::size_t needed = buffer_.size() + more;
    if (needed > memory_limit)
        return false;
    if (needed <= capacity_)
        return true;
    std::size_t capacity = std::max(capacity_ * 2, first_step);
    while (capacity < needed)
        capacity *= 2;
    capacity = std::min(capacity, memory_limit);
    if (!memory_.grow_to(capacity))
        return false;
    capacity_ = capacity;
    buffer_.reserve(capacity);
    return true;
}

awaitable<error_code> spool::write(std::span<const char> bytes)
{
    if (hashes_)
        hash_.update(bytes);
    size_ += bytes.size();
    if (!make_room_in_memory(bytes.size()))
        co_return co_await spill(bytes);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    co_return error_code{};
}

// Writes the buffer and the new bytes to the file, on a worker: the disk may be slow and must not block the
// shard.
awaitable<error_code> spool::spill(std::span<const char> bytes)
{
    const std::uint64_t total = buffer_.size() + bytes.size();
    if (!disk_->use(total))
        co_return RESTANTE_ERROR(errc::no_room);
    auto job = [this, bytes] {
        if (file_ < 0)
            file_ = open_nameless(disk_->budget().directory);
        const bool written = file_ >= 0 && write_all(file_, on_disk_, buffer_) &&
                             write_all(file_, on_disk_ + buffer_.size(), bytes);
        return written ? 0 : errno;  // the worker's own
    };
    const int failure = co_await shared_workers().run(job);
    if (failure != 0)
        co_return disk_failure("cannot write", failure);
    on_disk_ += total;
    buffer_.clear();
    co_return error_code{};
}

awaitable<error_code> spool::finish()
{
    if (hashes_)
        digest_ = hash_.finish();
    if (file_ < 0)
        co_return error_code{};
    if (!buffer_.empty()) {
        if (auto ec = co_await spill({}))
            co_return ec;
    }
    buffer_ = {};
    capacity_ = 0;
    memory_.release();
    co_return error_code{};
}

std::optional<std::span<const char>> spool::in_memory() const
{
    if (file_ >= 0)
        return std::nullopt;
    return std::span<const char>(buffer_);
}

awaitable<result<std::span<const char>>> spool::read(std::uint64_t offset, std::span<char> into)
{
    if (file_ < 0) {
        const std::size_t from = std::min<std::uint64_t>(offset, buffer_.size());
        const std::size_t count = std::min(into.size(), buffer_.size() - from);
        co_return std::span<const char>(buffer_).subspan(from, count);
    }
    // What was just written is nearly always still in the page cache, and then this does not block.
    iovec block{into.data(), into.size()};
    ssize_t got = ::preadv2(file_, &block, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (got < 0) {
        auto job = [&] {
            const ssize_t read = ::preadv2(file_, &block, 1, static_cast<off_t>(offset), 0);
            return read < 0 ? -errno : read;
        };
        got = co_await shared_workers().run(job);
    }
    if (got < 0)
        co_return disk_failure("cannot read", static_cast<int>(-got));
    co_return std::span<const char>(into.first(static_cast<std::size_t>(got)));
}

}  // namespace restante
