#pragma once

#include <chrono>

namespace restante {

// Decides whether a standby is asked at all, without I/O: the caller passes the time in.
//
// One failure is enough to stop, because every caller that asks a standby in vain waits for it first. Only a
// probe in the background ends that. A standby that has not come far enough costs a question and no wait, so
// that takes many in a row, and ends by itself.
class standby_circuit {
public:
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr auto failure_pause = std::chrono::seconds(3);
    static constexpr auto lag_pause = std::chrono::seconds(1);
    static constexpr int most_behind = 8;

    bool admits(time_point now) const { return !failed_ && now >= next_; }

    void served() { behind_ = 0; }

    void fell_behind(time_point now)
    {
        if (++behind_ < most_behind)
            return;
        behind_ = 0;
        next_ = now + lag_pause;
    }

    void failed(time_point now)
    {
        failed_ = true;
        next_ = now + failure_pause;
    }

    bool wants_probe(time_point now) const { return failed_ && now >= next_; }

    void probed(bool answered, time_point now)
    {
        if (!answered)
            return failed(now);
        failed_ = false;
        behind_ = 0;
    }

    bool has_failed() const { return failed_; }
    // It is not asked because it has not come far enough.
    bool lags(time_point now) const { return !failed_ && now < next_; }

private:
    bool failed_ = false;
    int behind_ = 0;
    time_point next_{};
};

}  // namespace restante
