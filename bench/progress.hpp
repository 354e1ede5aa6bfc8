#pragma once

#include <chrono>
#include <string>

namespace restante::bench {

// Tells on standard error what goes on, if it takes long enough: on a terminal one line, written anew five
// times a second; elsewhere a new line every five seconds. Silent when quiet.
class progress {
public:
    explicit progress(bool quiet);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void tell(const std::string& what);

    // Takes the line away, so that the table can go on.
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
