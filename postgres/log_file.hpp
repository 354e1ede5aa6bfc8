#pragma once

#include "core/startup_failure.hpp"
#include "core/unique_fd.hpp"

#include <filesystem>
#include <string>
#include <sys/types.h>

namespace restante {

// PostgreSQL's log. Opened for appending; a long one is renamed to log.old when PostgreSQL starts.
class log_file {
public:
    static startup_result<log_file> open(const std::filesystem::path& path);

    int descriptor() const { return fd_.get(); }

    // The messages since then, at most the last 4 KiB, in whole lines.
    std::string said_since_opened() const;

private:
    log_file(unique_fd fd, off_t start) : fd_(std::move(fd)), start_(start) {}

    unique_fd fd_;
    off_t start_;
};

}  // namespace restante
