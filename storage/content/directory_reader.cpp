#include "storage/content/directory_reader.hpp"

#include "core/file_io.hpp"
#include "core/worker_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace restante {

namespace {

constexpr std::size_t slice_bytes = 256 * 1024;

}  // namespace

directory_reader::directory_reader(file_checks& checks, unique_fd file, const file_identity& which,
                                   const digest32& digest, content_part part)
    : checks_(checks),
      file_(std::move(file)),
      which_(which),
      digest_(digest),
      part_(part),
      at_(part.first),
      is_right_(checks.known().knows(which, digest))
{
}

awaitable<error_code> directory_reader::verify()
{
    if (is_right_)
        co_return error_code{};
    if (const auto ec = co_await checks_.verify(file_.get(), which_, digest_))
        co_return ec;
    is_right_ = true;
    co_return error_code{};
}

std::optional<file_range> directory_reader::file() const
{
    if (!is_right_)
        return std::nullopt;
    return file_range{file_.get(), part_.first, part_.length};
}

awaitable<result<std::span<const char>>> directory_reader::next()
{
    block_.resize(std::min<std::uint64_t>(slice_bytes, part_.length));
    if (!is_right_ && is_whole())
        co_return co_await next_hashed();
    const auto left = part_.first + part_.length - at_;
    const auto into = std::span(block_).first(std::min<std::uint64_t>(block_.size(), left));
    const auto got = co_await read_at(file_.get(), at_, into);
    if (got < 0)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    if (got == 0)
        co_return RESTANTE_ERROR(errc::content_lost);
    at_ += static_cast<std::uint64_t>(got);
    co_return std::span<const char>(into.first(static_cast<std::size_t>(got)));
}

// Reads and hashes on a worker. The socket still has the slice before to send, and the kernel reads ahead.
awaitable<result<std::span<const char>>> directory_reader::next_hashed()
{
    auto job = [this]() -> std::int64_t {
        if (at_ == 0)
            ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        const auto got = ::pread(file_.get(), block_.data(), block_.size(), static_cast<off_t>(at_));
        if (got < 0)
            return -errno;
        hash_.update(std::span<const char>(block_).first(static_cast<std::size_t>(got)));
        return got;
    };
    const auto got = co_await disk_workers().run(job);
    if (got < 0)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    at_ += static_cast<std::uint64_t>(got);
    const bool last = at_ >= which_.size;
    if (got == 0 || at_ > which_.size || (last && hash_.finish() != digest_))
        co_return RESTANTE_ERROR(errc::content_lost);
    if (last && identify(file_.get()) == which_)
        checks_.known().remember(which_, digest_);
    co_return std::span<const char>(block_).first(static_cast<std::size_t>(got));
}

}  // namespace restante
