#pragma once

#include <chrono>
#include <string>

namespace restante::bench {

// Shows progress on standard error: on a terminal one line that is rewritten at most five times a second,
// elsewhere a new line every five seconds at most. Silent if quiet.
class progress_line {
public:
    explicit progress_line(bool quiet);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void show(const std::string& what);

    // Erases the line, so that the table can continue.
    void clear();

private:
    using clock = std::chrono::steady_clock;

    bool quiet_;
    bool terminal_;
    bool shown_ = false;
    std::chrono::milliseconds pause_;
    clock::time_point next_;
};

}  // namespace restante::bench
