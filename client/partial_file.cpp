#include "client/partial_file.hpp"

#include "core/encoding.hpp"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace restante::client {

namespace {

constexpr const char* what = "a partial file";

}  // namespace

outcome<partial_file> partial_file::open(int directory, const uuid& file)
{
    partial_file out;
    out.file_ = unique_fd(::openat(directory, to_string(file).c_str(),
                                   O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out.file_)
        return disk_failure(what, errno);
    if (auto read = out.hash_what_is_there(); !read)
        return read.error();
    return out;
}

outcome<void> partial_file::hash_what_is_there()
{
    constexpr std::size_t block_size = 256 * 1024;
    const auto block = std::make_unique_for_overwrite<char[]>(block_size);
    for (;;) {
        const auto n = ::pread(file_.get(), block.get(), block_size, static_cast<off_t>(size_));
        if (n < 0)
            return disk_failure(what, errno);
        if (n == 0)
            return {};
        digest_.update({block.get(), static_cast<std::size_t>(n)});
        size_ += static_cast<std::uint64_t>(n);
    }
}

outcome<void> partial_file::append(std::span<const char> bytes)
{
    while (!bytes.empty()) {
        const auto n = ::write(file_.get(), bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return disk_failure(what, errno);
        digest_.update(bytes.first(static_cast<std::size_t>(n)));
        size_ += static_cast<std::uint64_t>(n);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

outcome<void> partial_file::restart()
{
    if (::ftruncate(file_.get(), 0) != 0)
        return disk_failure(what, errno);
    digest_.finish();
    size_ = 0;
    return {};
}

std::string partial_file::finish_digest()
{
    return to_hex(digest_.finish());
}

outcome<void> partial_file::sync() const
{
    return client::sync(file_.get(), what);
}

std::optional<std::uint64_t> partial_size(int directory, const uuid& file)
{
    struct stat found{};
    if (::fstatat(directory, to_string(file).c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(found.st_mode))
        return std::nullopt;
    return static_cast<std::uint64_t>(found.st_size);
}

void remove_partial(int directory, const uuid& file)
{
    ::unlinkat(directory, to_string(file).c_str(), 0);
}

}  // namespace restante::client
