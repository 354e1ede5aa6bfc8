#include "client/file_placer.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace restante::client {

namespace {

outcome<std::string> absolute_path(const std::string& path)
{
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    if (!real)
        return disk_failure(path, errno);
    return std::string(real.get());
}

outcome<unique_fd> open_locked(const std::string& path)
{
    auto opened = open_directory(path);
    if (!opened)
        return opened.error();
    const auto mine = lock(opened->get(), path);
    if (!mine)
        return mine.error();
    if (!*mine)
        return failure{exit_code::failed, "in_use", "Another pull already puts files into " + path + '.'};
    return opened;
}

// For file systems that cannot refuse to replace a file when they rename one.
outcome<bool> link_and_unlink(int from, const char* partial, int to, const char* name)
{
    if (::linkat(from, partial, to, name, 0) != 0)
        return errno == EEXIST ? outcome<bool>(false) : disk_failure(name, errno);
    if (::unlinkat(from, partial, 0) != 0)
        return disk_failure(partial, errno);
    return true;
}

}  // namespace

outcome<target_directory> target_directory::open(const std::string& path)
{
    if (auto made = make_directory(path); !made)
        return made.error();
    auto real = absolute_path(path);
    if (!real)
        return real.error();
    target_directory out;
    out.path_ = *std::move(real);
    auto opened = open_locked(out.path_);
    if (!opened)
        return opened.error();
    out.fd_ = std::make_shared<const unique_fd>(*std::move(opened));
    return out;
}

outcome<void> target_directory::reopen()
{
    struct stat ours{};
    struct stat there{};
    const bool same = ::fstat(fd_->get(), &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                      ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
    if (same)
        return {};
    auto opened = open_locked(path_);
    if (!opened)
        return opened.error();
    fd_ = std::make_shared<const unique_fd>(*std::move(opened));
    return {};
}

std::string target_directory::path_of(const std::string& name) const
{
    return path_ == "/" ? path_ + name : path_ + '/' + name;
}

bool target_directory::has(const std::string& name) const
{
    struct stat found{};
    return ::fstatat(fd_->get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

bool target_directory::is_same_file(const std::string& name, int directory, const std::string& other) const
{
    struct stat here{};
    struct stat there{};
    return ::fstatat(fd_->get(), name.c_str(), &here, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstatat(directory, other.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

outcome<bool> target_directory::take(int from, const std::string& partial, const std::string& name) const
{
    if (::renameat2(from, partial.c_str(), fd_->get(), name.c_str(), RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST)
        return false;
    if (errno == EINVAL || errno == ENOSYS)
        return link_and_unlink(from, partial.c_str(), fd_->get(), name.c_str());
    return disk_failure(path_of(name), errno);
}

}  // namespace restante::client
