#pragma once

#include <chrono>

namespace restante::s3 {

// Keeps callers from waiting for a store that is away: after a number of failures in a row it opens, and lets
// one attempt through per interval until one succeeds.
class circuit {
public:
    using time_point = std::chrono::steady_clock::time_point;

    circuit(unsigned failures, std::chrono::milliseconds interval) : most_(failures), interval_(interval) {}

    // Whether an attempt may be made now. True takes the interval's one attempt while it is open.
    bool admit(time_point now)
    {
        if (!open())
            return true;
        if (now < next_)
            return false;
        next_ = now + interval_;
        return true;
    }

    void succeeded() { failed_ = 0; }
    void failed(time_point now)
    {
        if (failed_ < most_ && ++failed_ == most_)
            next_ = now + interval_;
    }

    bool open() const { return failed_ >= most_; }
    // Whether admit() would say yes, without taking anything.
    bool would_admit(time_point now) const { return !open() || now >= next_; }

private:
    unsigned most_;
    std::chrono::milliseconds interval_;
    unsigned failed_ = 0;
    time_point next_{};
};

}  // namespace restante::s3
