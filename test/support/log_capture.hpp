#pragma once

#include "core/log.hpp"

#include <string>
#include <vector>

namespace restante {

// Captures the log during its lifetime, instead of stderr; the level is debug meanwhile.
class log_capture {
public:
    log_capture();
    ~log_capture();
    log_capture(const log_capture&) = delete;
    log_capture& operator=(const log_capture&) = delete;

    // All lines so far, without their line ends.
    std::vector<std::string> lines() const;

private:
    int file_;
};

}  // namespace restante
