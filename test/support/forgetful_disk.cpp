// A library to preload (LD_PRELOAD) into a program, so that a test can cut its power. It writes down what the
// program does to files below RESTANTE_DISK_ROOT, one line each into RESTANTE_DISK_LOG, and
// test/e2e/forgetful_disk.py undoes what a disk may have forgotten: everything that was not synced.
//
//   create PATH | mkdir PATH | rename OLD NEW     written before it happens
//   link OLD NEW                                  the same; OLD is what /proc calls a file without a name
//   write PATH                                    the same
//   truncate PATH                                 the same
//   sync PATH SIZE                                written afterwards, with the size before
//   drop PATH                                     instead, when the sync has failed
//
// While the file RESTANTE_DISK_FULL exists, writes, reservations and new files below the root fail with
// ENOSPC. The file RESTANTE_DISK_BAD, while it exists, has a part of a path: the next sync of such a file
// fails with EIO, and removes it. With RESTANTE_DISK_DEAF set, syncs happen and are not written down: a test
// of the test.
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

template <class Function>
Function* next(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string path_of(int fd)
{
    char text[PATH_MAX];
    const auto link = "/proc/self/fd/" + std::to_string(fd);
    const auto n = ::readlink(link.c_str(), text, sizeof text);
    return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
}

std::string path_at(int directory, const char* name)
{
    if (name[0] == '/')
        return name;
    char here[PATH_MAX];
    const auto folder = directory == AT_FDCWD ? std::string(::getcwd(here, sizeof here)) : path_of(directory);
    return folder + '/' + name;
}

bool is_watched(const std::string& path)
{
    const char* root = std::getenv("RESTANTE_DISK_ROOT");
    return root && path.compare(0, std::strlen(root), root) == 0;
}

void note(const std::string& line)
{
    static const int log = [] {
        const char* path = std::getenv("RESTANTE_DISK_LOG");
        return path ? static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path,
                                                 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600))
                    : -1;
    }();
    const auto text = line + '\n';
    ::syscall(SYS_write, log, text.data(), text.size());
}

bool is_full()
{
    const char* mark = std::getenv("RESTANTE_DISK_FULL");
    return mark && ::access(mark, F_OK) == 0;
}

// Notes the new file, if it is one. False, with errno set, when there is no room for it.
bool may_create(const std::string& path)
{
    struct stat found{};
    if (!is_watched(path) || ::lstat(path.c_str(), &found) == 0)
        return true;
    if (is_full()) {
        errno = ENOSPC;
        return false;
    }
    note("create\t" + path);
    return true;
}

void note_mkdir(const std::string& path)
{
    struct stat found{};
    if (is_watched(path) && ::lstat(path.c_str(), &found) != 0)
        note("mkdir\t" + path);
}

// Notes the write. False, with errno set, when there is no room for it.
bool may_write(int fd)
{
    if (fd <= STDERR_FILENO)
        return true;
    const int before = errno;
    const auto path = path_of(fd);
    if (is_watched(path)) {
        if (is_full()) {
            errno = ENOSPC;
            return false;
        }
        note("write\t" + path);
    }
    errno = before;
    return true;
}

// Whether the sync of this file is to fail; once.
bool is_bad(const std::string& path)
{
    const char* mark = std::getenv("RESTANTE_DISK_BAD");
    const int file =
        mark ? static_cast<int>(::syscall(SYS_openat, AT_FDCWD, mark, O_RDONLY | O_CLOEXEC)) : -1;
    if (file < 0)
        return false;
    char part[PATH_MAX];
    const auto n = ::read(file, part, sizeof part);
    ::close(file);
    if (n <= 0 || path.find(std::string(part, static_cast<std::size_t>(n))) == std::string::npos)
        return false;
    return ::unlink(mark) == 0;
}

int sync_and_note(int fd, int (*really)(int))
{
    const int before = errno;
    struct stat facts{};
    const auto path = path_of(fd);
    const bool known = is_watched(path) && ::fstat(fd, &facts) == 0;
    if (known && is_bad(path)) {
        note("drop\t" + path);
        errno = EIO;
        return -1;
    }
    errno = before;
    const int code = really(fd);
    if (code == 0 && known && !std::getenv("RESTANTE_DISK_DEAF"))
        note("sync\t" + path + '\t' + std::to_string(facts.st_size));
    return code;
}

}  // namespace

extern "C" {

int openat(int directory, const char* name, int flags, ...)
{
    std::va_list rest;
    va_start(rest, flags);
    const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_CREAT) != 0 && !may_create(path_at(directory, name)))
        return -1;
    return next<int(int, const char*, int, ...)>("openat")(directory, name, flags, mode);
}

int mkdir(const char* name, mode_t mode)
{
    note_mkdir(path_at(AT_FDCWD, name));
    return next<int(const char*, mode_t)>("mkdir")(name, mode);
}

int mkdirat(int directory, const char* name, mode_t mode)
{
    note_mkdir(path_at(directory, name));
    return next<int(int, const char*, mode_t)>("mkdirat")(directory, name, mode);
}

// Only of files without a name, which are named by way of their descriptor.
int linkat(int from, const char* old_name, int to, const char* new_name, int flags)
{
    const auto path = path_at(to, new_name);
    if (is_watched(path)) {
        const int before = errno;
        char text[PATH_MAX];
        const auto n = ::readlink(old_name, text, sizeof text);
        note("link\t" + std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0) + '\t' + path);
        errno = before;
    }
    return next<int(int, const char*, int, const char*, int)>("linkat")(from, old_name, to, new_name, flags);
}

ssize_t write(int fd, const void* bytes, size_t size)
{
    if (!may_write(fd))
        return -1;
    return next<ssize_t(int, const void*, size_t)>("write")(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset)
{
    if (!may_write(fd))
        return -1;
    return next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, bytes, size, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    if (!may_write(fd))
        return -1;
    return next<int(int, int, off_t, off_t)>("fallocate")(fd, mode, offset, size);
}

int ftruncate(int fd, off_t size)
{
    const int before = errno;
    const auto path = path_of(fd);
    if (is_watched(path))
        note("truncate\t" + path);
    errno = before;
    return next<int(int, off_t)>("ftruncate")(fd, size);
}

int fsync(int fd)
{
    return sync_and_note(fd, next<int(int)>("fsync"));
}

int fdatasync(int fd)
{
    return sync_and_note(fd, next<int(int)>("fdatasync"));
}

int renameat2(int from, const char* old_name, int to, const char* new_name, unsigned flags)
{
    const auto path = path_at(to, new_name);
    if (is_watched(path))
        note("rename\t" + path_at(from, old_name) + '\t' + path);
    return next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from, old_name, to, new_name,
                                                                                flags);
}

int renameat(int from, const char* old_name, int to, const char* new_name)
{
    return renameat2(from, old_name, to, new_name, 0);
}
}
