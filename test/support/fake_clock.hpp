#pragma once

#include "core/clock.hpp"

namespace restante {

// A clock that only advances when a test advances it.
class fake_clock final : public clock {
public:
    time_point now() const override { return now_; }
    void advance(std::chrono::steady_clock::duration by) { now_ += by; }

private:
    time_point now_ = time_point(std::chrono::hours(1));
};

}  // namespace restante
