#include "client/partial_file.hpp"

#include "client/progress_text.hpp"
#include "core/encoding.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace restante::client {

namespace {

constexpr const char* what = "a partial file";

// Less than that is fetched sooner than asked about.
constexpr std::uint64_t much = 1 << 20;
// The journal is on the same disk, and has to note what becomes of the file.
constexpr std::uint64_t for_journal = 1 << 20;

failure no_room(std::uint64_t missing, const std::string& free)
{
    return {exit_code::failed, "disk_full",
            "there is too little room on the disk: " + format_bytes(missing) + " are missing" + free + '.',
            true};
}

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

outcome<void> partial_file::reserve(std::uint64_t whole) const
{
    const auto missing = whole - std::min(whole, size_);
    if (missing < much)
        return {};
    // Two that take what is left at the same time would get a part each, and neither be fetched.
    static std::mutex one_at_a_time;
    const std::scoped_lock turn(one_at_a_time);
    struct statvfs disk{};
    // Some file systems of a network say 0 of everything.
    if (::fstatvfs(file_.get(), &disk) == 0 && disk.f_blocks > 0) {
        const auto free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize + held_room();
        if (free < for_journal || free - for_journal < missing)
            return no_room(missing, ", " + format_bytes(free) + " are free");
    }
    // Files that are fetched at the same time would each find the same room free.
    if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_),
                    static_cast<off_t>(missing)) == 0)
        return {};
    const int error = errno;
    if (error != ENOSPC && error != EDQUOT)
        return {};
    // Gives back what was got of it. If that fails, the room is this file's and the next try has it.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(size_));
    return no_room(missing, "");
}

std::uint64_t partial_file::held_room() const
{
    struct stat facts{};
    if (::fstat(file_.get(), &facts) != 0)
        return 0;
    const auto held = static_cast<std::uint64_t>(facts.st_blocks) * 512;
    return held - std::min(held, size_);
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
