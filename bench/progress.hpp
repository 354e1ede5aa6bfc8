#pragma once

#include <chrono>
#include <string>

namespace restante::bench {

// One line on standard error that tells what goes on, written anew at most five times a second: on a terminal in
// place, elsewhere one line every five seconds. Silent when quiet.
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
    clock::time_point next_{};
};

}  // namespace restante::bench
