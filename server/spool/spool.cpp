#include "server/spool/spool.hpp"

#include "core/file_io.hpp"
#include "core/log.hpp"
#include "core/worker_pool.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace restante {

namespace {

constexpr std::size_t first_step = 16 * 1024;

// A process without descriptors has enough of them a moment later.
bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE;
}

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

}  // namespace

startup_result<void> check_spool_directory(const std::string& directory)
{
    const int file = open_nameless(directory);
    if (file >= 0) {
        ::close(file);
        return {};
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EPERM)
        return {};
    return startup_failure{"--spool-dir " + directory + " cannot be used: " + std::strerror(errno)};
}

// A full disk and a process out of descriptors are temporary; a client may retry.
error_code spool::disk_failure(const char* what, int reason) const
{
    log_line(log_level::error, "spool_failed").field("error", what).field("reason", std::strerror(reason));
    if (is_shortage(reason))
        return RESTANTE_ERROR(errc::no_room);
    if (in_store_)
        return RESTANTE_ERROR(errc::content_store_unavailable);
    return RESTANTE_ERROR(reason == ENOSPC || reason == EDQUOT ? errc::no_room : errc::io_error);
}

spool::~spool()
{
    if (file_ >= 0)
        ::close(file_);
}

// Memory is taken from the budget in doubling steps, so that a small file costs little and a large one is
// rarely reallocated. There may be less than is wanted, or none.
void spool::make_room_in_memory(std::size_t more)
{
    const std::size_t needed = std::min(buffer_.size() + more, memory_limit);
    if (needed <= capacity_)
        return;
    std::size_t capacity = std::max(capacity_ * 2, first_step);
    while (capacity < needed)
        capacity *= 2;
    if (!memory_.grow_to(capacity))
        return;
    capacity_ = capacity;
    buffer_.reserve(capacity);
}

awaitable<error_code> spool::write(std::span<const char> bytes)
{
    if (hashes_)
        hash_.update(bytes);
    size_ += bytes.size();
    make_room_in_memory(bytes.size());
    if (capacity_ == 0)
        co_return co_await spill(bytes);
    // Only full buffers are written, so that each begins at a block of the disk.
    for (;;) {
        const auto fitting = bytes.first(std::min(bytes.size(), capacity_ - buffer_.size()));
        buffer_.insert(buffer_.end(), fitting.begin(), fitting.end());
        bytes = bytes.subspan(fitting.size());
        if (bytes.empty())
            co_return error_code{};
        if (auto ec = co_await spill_buffer())
            co_return ec;
    }
}

awaitable<error_code> spool::spill_buffer()
{
    const auto ec = co_await spill(buffer_);
    if (!ec)
        buffer_.clear();
    co_return ec;
}

// On a worker: the disk may be slow and must not block the shard.
awaitable<error_code> spool::spill(std::span<const char> bytes)
{
    if (!disk_->use(bytes.size()))
        co_return RESTANTE_ERROR(errc::no_room);
    const auto& store = disk_->store();
    if (on_disk_ == 0)
        in_store_ = store && size_ > store->above;
    if (in_store_ && !store->where->take_room(bytes.size()))
        co_return disk_failure("cannot write", ENOSPC);
    const auto& directory = in_store_ ? store->where->path() : disk_->budget().directory;
    auto job = [this, bytes, &directory] {
        if (file_ < 0)
            file_ = open_nameless(directory);
        if (file_ < 0)
            return errno;  // the worker's own
        // What is not in the store will be read at once, to be stored elsewhere.
        return in_store_ ? write_all_direct(file_, on_disk_, bytes) : write_all_at(file_, on_disk_, bytes);
    };
    const int failure = co_await disk_workers().run(job);
    if (failure != 0) {
        if (in_store_ && !is_shortage(failure))
            store->where->note_failure(failure);
        co_return disk_failure("cannot write", failure);
    }
    on_disk_ += bytes.size();
    co_return error_code{};
}

awaitable<error_code> spool::finish()
{
    if (hashes_)
        digest_ = hash_.finish();
    if (on_disk_ == 0) {
        finished_ = true;
        co_return error_code{};
    }
    if (!buffer_.empty()) {
        if (auto ec = co_await spill_buffer())
            co_return ec;
    }
    finished_ = true;
    buffer_ = {};
    capacity_ = 0;
    memory_.release();
    co_return error_code{};
}

std::optional<std::span<const char>> spool::in_memory() const
{
    if (on_disk_ > 0)
        return std::nullopt;
    return std::span<const char>(buffer_);
}

awaitable<result<std::span<const char>>> spool::read(std::uint64_t offset, std::span<char> into)
{
    if (offset >= on_disk_) {
        const std::size_t from = std::min<std::uint64_t>(offset - on_disk_, buffer_.size());
        const auto piece =
            std::span<const char>(buffer_).subspan(from, std::min(into.size(), buffer_.size() - from));
        if (finished_)
            co_return piece;
        // What is still growing may move.
        std::copy(piece.begin(), piece.end(), into.begin());
        co_return std::span<const char>(into.first(piece.size()));
    }
    // What was just written is nearly always still in the page cache, and then this does not block.
    const auto got =
        co_await read_at(file_, offset, into.first(std::min<std::uint64_t>(into.size(), on_disk_ - offset)));
    if (got < 0)
        co_return disk_failure("cannot read", static_cast<int>(-got));
    co_return std::span<const char>(into.first(static_cast<std::size_t>(got)));
}

}  // namespace restante
