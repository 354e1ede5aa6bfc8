#include "postgres/log_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace restante {

namespace {

constexpr off_t long_log = 16 * 1024 * 1024;
constexpr off_t longest_quote = 4 * 1024;

off_t size_of(int fd)
{
    struct stat info = {};
    return ::fstat(fd, &info) == 0 ? info.st_size : 0;
}

}  // namespace

startup_result<log_file> log_file::open(const std::filesystem::path& path)
{
    std::error_code ec;
    if (const auto size = std::filesystem::file_size(path, ec); !ec && size > long_log)
        std::filesystem::rename(path, path.string() + ".old", ec);

    unique_fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd)
        return startup_failure{"cannot open " + path.string() + ": " + std::strerror(errno)};
    const off_t start = size_of(fd.get());
    return log_file(std::move(fd), start);
}

std::string log_file::said_since_opened() const
{
    const off_t end = size_of(fd_.get());
    const off_t from = std::max(start_, end - longest_quote);
    std::string text(static_cast<std::size_t>(end - from), '\0');
    const auto n = ::pread(fd_.get(), text.data(), text.size(), from);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (from > start_)
        text.erase(0, text.find('\n') + 1);
    return text;
}

}  // namespace restante
