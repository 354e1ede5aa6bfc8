#include "storage/content/content_directory.hpp"

#include "core/file_io.hpp"
#include "core/log.hpp"
#include "storage/content/content_key.hpp"
#include "storage/content/folder_names.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <linux/openat2.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace restante {

namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t folders_kept_open = 4;
constexpr std::uint64_t least_free = 1024 * 1024;  // a disk with less, besides the reserve, is full
constexpr std::uint64_t largest_reserve = 1024 * 1024 * 1024;
constexpr std::uint64_t reserved_part = 20;
// The name of a file while it is copied. It is no key, so nobody takes it for a file.
constexpr std::string_view unfinished = ".part";
constexpr std::time_t longest_copy = 3600;

std::uint64_t free_besides_reserve(const struct statvfs& info)
{
    const std::uint64_t unit = info.f_frsize;
    const auto reserve = std::min(largest_reserve, info.f_blocks * unit / reserved_part);
    const auto available = info.f_bavail * unit;
    return available > reserve ? available - reserve : 0;
}

startup_failure cannot_use(const std::string& path, const std::string& why)
{
    return {"--content-dir " + path + " cannot be used: " + why};
}

// Only once, at the start.
std::string name_of_user(uid_t id)
{
    const auto* known = ::getpwuid(id);
    return known ? known->pw_name : std::to_string(id);
}

bool is_unfinished(std::string_view name)
{
    return name.ends_with(unfinished);
}

// A directory whose own name is lost takes everything in it along.
int sync_parent(const std::string& path)
{
    const auto parent = (std::filesystem::absolute(path) / "").parent_path().parent_path();
    const unique_fd folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder && ::fsync(folder.get()) == 0 ? 0 : errno;
}

// Nothing outside of the directory, whatever somebody has put into it.
int open_beneath(int root, const std::string& path, bool cached_only)
{
    open_how how{};
    // O_NONBLOCK: a pipe in the place of a file must not stop us.
    how.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    if (cached_only)
        how.resolve |= RESOLVE_CACHED;
    return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// Where openat2 is not to be had.
int open_step_by_step(int root, const content_key& key)
{
    const unique_fd folder(::openat(root, std::string(key.hour).c_str(), folder_flags));
    if (!folder)
        return -1;
    return ::openat(folder.get(), to_string(key.file).c_str(),
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// The directory of that name, if it is one that only this user can use; else a sentence.
startup_result<unique_fd> open_root(const std::string& path)
{
    unique_fd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat info{};
    if (!root || ::fstat(root.get(), &info) != 0)
        return cannot_use(path, std::strerror(errno));
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return cannot_use(path, "other users could read it; chmod 700 it");
    // What root would put here the server could neither read nor remove.
    if (info.st_uid != ::geteuid())
        return cannot_use(path,
                          "it belongs to the user " + name_of_user(info.st_uid) + "; run this as that user");
    return root;
}

}  // namespace

content_directory::content_directory(std::string path, unique_fd root)
    : path_(std::move(path)), root_(std::move(root))
{
}

startup_result<std::shared_ptr<content_directory>> content_directory::open(const std::string& path)
{
    if (::mkdir(path.c_str(), 0700) == 0) {
        if (const int error = sync_parent(path))
            return cannot_use(path, std::strerror(error));
    } else if (errno != EEXIST) {
        return cannot_use(path, std::strerror(errno));
    }
    auto root = open_root(path);
    if (!root)
        return root.error();
    std::shared_ptr<content_directory> opened(new content_directory(path, std::move(*root)));
    opened->probe();
    return opened;
}

int content_directory::open_nameless(unique_fd& out)
{
    out = unique_fd(::openat(root_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    return out ? 0 : errno;
}

// The folder of an hour. Its own name is durable before anybody gets it.
int content_directory::open_hour(const std::string& hour, std::shared_ptr<folder>& out)
{
    const std::lock_guard lock(guard_);
    if (const auto known = hours_.find(hour); known != hours_.end()) {
        out = known->second;
        return 0;
    }
    if (::mkdirat(root_.get(), hour.c_str(), 0700) != 0 && errno != EEXIST)
        return errno;
    unique_fd descriptor(::openat(root_.get(), hour.c_str(), folder_flags));
    if (!descriptor || ::fsync(root_.get()) != 0)
        return errno;
    out = std::make_shared<folder>(folder{std::move(descriptor)});
    if (hours_.size() == folders_kept_open)
        hours_.erase(hours_.begin());
    hours_.emplace(hour, out);
    return 0;
}

void content_directory::forget_hour(const std::string& hour)
{
    const std::lock_guard lock(guard_);
    hours_.erase(hour);
}

int content_directory::name(int nameless, const std::string& key, const digest32& digest)
{
    const auto parsed = parse_content_key(key);
    if (!parsed)
        return EINVAL;
    if (::fdatasync(nameless) != 0)
        return errno;
    const std::string hour(parsed->hour);
    const auto from = "/proc/self/fd/" + std::to_string(nameless);
    // A second attempt for a folder that was removed, empty, since it was opened.
    for (int attempt = 0;; ++attempt) {
        std::shared_ptr<folder> to;
        if (const int error = open_hour(hour, to))
            return error;
        const auto name = to_string(parsed->file);
        if (::linkat(AT_FDCWD, from.c_str(), to->descriptor.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            // Until now nobody else could write to it. The name itself counts as a change.
            if (const auto now = identify(nameless))
                known_.remember(*now, digest);
            return 0;
        }
        if (errno != ENOENT || attempt > 0)
            return errno;
        forget_hour(hour);
    }
}

int content_directory::begin_copy(const std::string& key, unique_fd& out)
{
    const auto parsed = parse_content_key(key);
    if (!parsed)
        return EINVAL;
    std::shared_ptr<folder> in;
    if (const int error = open_hour(std::string(parsed->hour), in))
        return error;
    const auto name = to_string(parsed->file).append(unfinished);
    ::unlinkat(in->descriptor.get(), name.c_str(), 0);  // left by an earlier attempt
    constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    out = unique_fd(::openat(in->descriptor.get(), name.c_str(), flags, 0600));
    return out ? 0 : errno;
}

int content_directory::finish_copy(int copied, const std::string& key)
{
    const auto parsed = parse_content_key(key);
    if (!parsed)
        return EINVAL;
    if (::fdatasync(copied) != 0)
        return errno;
    std::shared_ptr<folder> in;
    if (const int error = open_hour(std::string(parsed->hour), in))
        return error;
    const auto name = to_string(parsed->file);
    const int folder = in->descriptor.get();
    return ::renameat(folder, (name + std::string(unfinished)).c_str(), folder, name.c_str()) == 0 ? 0
                                                                                                   : errno;
}

int content_directory::sync_hour(const std::string& hour)
{
    std::shared_ptr<folder> which;
    if (const int error = open_hour(hour, which))
        return error;
    return ::fsync(which->descriptor.get()) == 0 ? 0 : errno;
}

int content_directory::open_file(const std::string& key, bool cached_only, unique_fd& out) const
{
    const auto parsed = parse_content_key(key);
    if (!parsed)
        return EINVAL;
    out = unique_fd(open_beneath(root_.get(), key, cached_only));
    if (!out && (errno == ENOSYS || errno == EPERM))
        out = unique_fd(open_step_by_step(root_.get(), *parsed));
    if (!out)
        return errno;
    struct stat info{};
    if (::fstat(out.get(), &info) != 0)
        return errno;
    return S_ISREG(info.st_mode) ? 0 : ELOOP;
}

int content_directory::remove(const std::string& key)
{
    const auto parsed = parse_content_key(key);
    if (!parsed)
        return EINVAL;
    const unique_fd folder(::openat(root_.get(), std::string(parsed->hour).c_str(), folder_flags));
    const bool gone =
        folder ? ::unlinkat(folder.get(), to_string(parsed->file).c_str(), 0) == 0 : errno == ENOENT;
    return gone || errno == ENOENT ? 0 : errno;
}

int content_directory::list(const std::string& after, const std::string& before, std::size_t limit,
                            std::vector<listed_content>& out)
{
    std::vector<std::string> hours;
    if (const int error = read_names(root_.get(), hours))
        return error;
    for (const auto& hour : hours) {
        // The keys of an hour come after its name, and before the next hour's.
        if (!is_hour(hour) || hour >= before || hour + '0' <= after)
            continue;
        const unique_fd folder(::openat(root_.get(), hour.c_str(), folder_flags));
        std::vector<std::string> names;
        if (!folder)
            continue;  // no folder of ours
        if (const int error = read_names(folder.get(), names))
            return error;
        if (names.empty()) {
            forget_hour(hour);
            ::unlinkat(root_.get(), hour.c_str(), AT_REMOVEDIR);
        }
        for (const auto& name : names) {
            std::string key = hour + '/' + name;
            if (key <= after && !is_unfinished(name))
                continue;
            struct stat info{};
            if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
                continue;
            if (is_unfinished(name) && info.st_mtime < std::time(nullptr) - longest_copy)
                ::unlinkat(folder.get(), name.c_str(), 0);
            if (key <= after || !parse_content_key(key))
                continue;
            out.push_back({std::move(key), static_cast<std::uint64_t>(info.st_size)});
            if (out.size() == limit)
                return 0;
        }
    }
    return 0;
}

// What a large file needs: room, and a disk that confirms.
int content_directory::try_writing()
{
    unique_fd file;
    static constexpr char block[64 * 1024] = {};
    if (const int error = open_nameless(file); error != 0 && error != EOPNOTSUPP)
        return error;
    if (!file)
        return 0;
    if (const int error = write_all_at(file.get(), 0, block))
        return error;
    return ::fdatasync(file.get()) == 0 ? 0 : errno;
}

// A directory that was removed is not written to any more, and the one that has come into its place is:
// restored, or on another disk. Its descriptor keeps its number, which other threads are using.
bool content_directory::is_there()
{
    struct stat info{};
    if (::fstat(root_.get(), &info) == 0 && info.st_nlink > 0)
        return true;
    const auto fresh = open_root(path_);
    if (!fresh || ::dup3(fresh->get(), root_.get(), O_CLOEXEC) < 0)
        return false;
    const std::lock_guard lock(guard_);
    hours_.clear();
    return true;
}

void content_directory::probe()
{
    if (!is_there()) {
        note_failure(ENOENT);
        return;
    }
    struct statvfs info{};
    if (::fstatvfs(root_.get(), &info) != 0) {
        note_failure(errno);
        return;
    }
    free_ = free_besides_reserve(info);
    if ((info.f_flag & ST_RDONLY) != 0)
        note_failure(EROFS);
    else if (free_ < least_free)
        note_failure(ENOSPC);
    else if (failure_ != 0 && try_writing() == 0 && failure_.exchange(0) != 0)
        log_line(log_level::info, "content_store_available").field("store", "directory");
}

bool content_directory::take_room(std::uint64_t bytes)
{
    auto left = free_bytes();
    do {
        if (bytes > left)
            return false;
    } while (!free_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
    return true;
}

void content_directory::note_failure(int error)
{
    if (failure_.exchange(error) != error)
        log_line(log_level::error, "content_store_failed")
            .field("store", "directory")
            .field("reason", std::strerror(error));
}

std::optional<std::string> content_directory::trouble() const
{
    const int error = failure_.load(std::memory_order_relaxed);
    if (error == 0)
        return std::nullopt;
    return std::string("the directory cannot be written: ") + std::strerror(error);
}

}  // namespace restante
