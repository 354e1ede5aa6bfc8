#pragma once

#include "postgres/unique_fd.hpp"
#include "core/startup_failure.hpp"

#include <filesystem>
#include <string>
#include <sys/types.h>

namespace restante {

// Where PostgreSQL's messages go. Grows at the end; a long one is put aside as log.old when PostgreSQL
// starts.
class log_file {
public:
    static startup_result<log_file> open(const std::filesystem::path& path);

    int descriptor() const { return fd_.get(); }

    // What was written since, at most its last 4 KiB, in whole lines.
    std::string said_since_opened() const;

private:
    log_file(unique_fd fd, off_t start) : fd_(std::move(fd)), start_(start) {}

    unique_fd fd_;
    off_t start_;
};

}  // namespace restante
