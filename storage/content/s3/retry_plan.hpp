#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace restante::s3 {

// A number from 0 to 1, without 1.
double random_share();

// When to try again: four attempts at most and none after 4 s, with pauses that double from 100 ms, each
// shortened by up to a half at random so that many callers do not come back in the same moment.
class retry_plan {
public:
    using milliseconds = std::chrono::milliseconds;
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr auto longest = std::chrono::seconds(4);
    static constexpr unsigned most_attempts = 4;
    static constexpr milliseconds first_pause{100};

    explicit retry_plan(time_point now, std::function<double()> random = random_share)
        : random_(std::move(random)), begun_(now)
    {
    }

    // The pause before the next attempt; nothing when it is time to give up.
    std::optional<milliseconds> after_failure(time_point now)
    {
        if (++failed_ >= most_attempts || !lasts(now))
            return std::nullopt;
        const auto half = first_pause * (1u << (failed_ - 1)) / 2;
        return half + milliseconds(static_cast<std::int64_t>(random_() * static_cast<double>(half.count())));
    }

    // Whether it is too early to give up.
    bool lasts(time_point now) const { return now - begun_ < longest; }

    // After an attempt that has brought something.
    void reset(time_point now)
    {
        failed_ = 0;
        begun_ = now;
    }

private:
    std::function<double()> random_;
    time_point begun_;
    unsigned failed_ = 0;
};

}  // namespace restante::s3
