#include "test/support/log_capture.hpp"

#include <fcntl.h>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace restante {

log_capture::log_capture() : file_(::memfd_create("log", MFD_CLOEXEC))
{
    if (file_ < 0)
        throw std::runtime_error("no memory file for the log");
    // Only with O_APPEND do the writes of several threads not overwrite each other.
    ::fcntl(file_, F_SETFL, O_APPEND);
    set_log_sink(file_);
    set_log_level(log_level::debug);
}

log_capture::~log_capture()
{
    set_log_sink(STDERR_FILENO);
    set_log_level(log_level::info);
    ::close(file_);
}

std::vector<std::string> log_capture::lines() const
{
    struct stat info = {};
    if (::fstat(file_, &info) != 0)
        throw std::runtime_error("no size of the log");
    std::string text(static_cast<std::size_t>(info.st_size), '\0');
    if (::pread(file_, text.data(), text.size(), 0) != info.st_size)
        throw std::runtime_error("cannot read the log back");

    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

}  // namespace restante
