#include "client/disk.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace restante::client {

failure disk_failure(std::string_view what, int error)
{
    failure out{exit_code::failed, "io_error", std::string(what) + ": " + std::strerror(error) + '.', false};
    if (error == ENOSPC || error == EDQUOT) {
        out.code = "disk_full";
        out.transient = true;
    } else if (error == ENOENT || error == ENOTDIR || error == ESTALE) {
        out.code = "directory_gone";
        out.transient = true;
    }
    return out;
}

outcome<unique_fd> open_directory(const std::string& path)
{
    unique_fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened)
        return disk_failure(path, errno);
    return opened;
}

outcome<void> make_directory(const std::string& path)
{
    if (::mkdir(path.c_str(), 0700) != 0)
        return errno == EEXIST ? outcome<void>() : disk_failure(path, errno);
    const auto slash = path.find_last_of('/', path.size() - 2);
    const auto parent = open_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
    if (!parent)
        return parent.error();
    return sync(parent->get(), path);
}

outcome<void> make_directories(const std::string& path)
{
    for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        if (auto made = make_directory(path.substr(0, slash)); !made)
            return made;
        if (slash == std::string::npos)
            return {};
    }
}

outcome<void> sync(int fd, std::string_view what)
{
    if (::fsync(fd) != 0)
        return disk_failure(what, errno);
    return {};
}

outcome<void> write_all(int fd, std::string_view bytes, std::string_view what)
{
    while (!bytes.empty()) {
        const auto n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return disk_failure(what, errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

replacement::replacement(int directory, const std::string& name, unique_fd file)
    : directory_(directory), name_(name), fresh_(name + ".new"), file_(std::move(file))
{
}

replacement::~replacement()
{
    if (file_)
        ::unlinkat(directory_, fresh_.c_str(), 0);
}

outcome<replacement> replacement::make(int directory, const std::string& name, std::size_t room)
{
    const auto fresh = name + ".new";
    ::unlinkat(directory, fresh.c_str(), 0);
    unique_fd file(
        ::openat(directory, fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
        return disk_failure(fresh, errno);
    replacement out(directory, name, std::move(file));
    const int error = room > 0 ? ::posix_fallocate(out.file_.get(), 0, static_cast<off_t>(room)) : 0;
    // Where a file system cannot reserve room, writing will tell.
    if (error != 0 && error != EINVAL && error != EOPNOTSUPP)
        return disk_failure(fresh, error);
    return out;
}

outcome<void> replacement::commit(std::string_view text)
{
    if (auto written = write_all(file_.get(), text, fresh_); !written)
        return written;
    if (::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0)
        return disk_failure(fresh_, errno);
    if (auto synced = sync(file_.get(), fresh_); !synced)
        return synced;
    const unique_fd file = std::move(file_);
    if (::renameat(directory_, fresh_.c_str(), directory_, name_.c_str()) != 0)
        return disk_failure(name_, errno);
    return sync(directory_, name_);
}

outcome<void> replace_file(int directory, const std::string& name, std::string_view text)
{
    auto made = replacement::make(directory, name, 0);
    if (!made)
        return made.error();
    return made->commit(text);
}

outcome<std::string> read_whole(int directory, const std::string& name)
{
    const unique_fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file)
        return errno == ENOENT ? outcome<std::string>(std::string()) : disk_failure(name, errno);
    std::string text;
    char block[64 * 1024];
    for (;;) {
        const auto n = ::read(file.get(), block, sizeof block);
        if (n < 0)
            return disk_failure(name, errno);
        if (n == 0)
            return text;
        text.append(block, static_cast<std::size_t>(n));
    }
}

outcome<bool> lock(int fd, std::string_view what)
{
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK)
        return false;
    return disk_failure(what, errno);
}

}  // namespace restante::client
