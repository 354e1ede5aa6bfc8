#pragma once

#include <chrono>
#include <cstdint>

namespace restante {

// A peer may be slow, but it must move this many bytes in every window, in either direction: 1 KiB/s.
inline constexpr auto progress_window = std::chrono::seconds(10);
inline constexpr std::uint64_t progress_bytes = 10 * 1024;

// The rule above for bytes that are received.
class receive_progress {
public:
    using clock = std::chrono::steady_clock;

    // When a wait for more has to end, given how many bytes there are in all.
    clock::time_point limit(std::uint64_t received)
    {
        if (end_ == clock::time_point{} || received - received_before_ >= progress_bytes) {
            received_before_ = received;
            end_ = clock::now() + progress_window;
        }
        return end_;
    }

    // The time in between is the receiver's own, not the peer's.
    void pause() { paused_at_ = clock::now(); }
    void resume()
    {
        if (end_ != clock::time_point{} && paused_at_ != clock::time_point{})
            end_ += clock::now() - paused_at_;
        paused_at_ = {};
    }

private:
    std::uint64_t received_before_ = 0;
    clock::time_point end_{};
    clock::time_point paused_at_{};
};

}  // namespace restante
