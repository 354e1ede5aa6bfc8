#pragma once

#include "core/asio.hpp"

#include <functional>
#include <memory>

namespace restante {

// A timer that rings this late says that the process itself stood still: stopped, starved, or its machine
// paused. What it waited for may have come long ago, and nobody could look.
inline constexpr auto standstill = std::chrono::milliseconds(500);
// What a wait gets on top then, once: time to take in what has come.
inline constexpr auto second_chance = std::chrono::milliseconds(500);

inline bool stood_still_since(std::chrono::steady_clock::time_point due)
{
    return std::chrono::steady_clock::now() - due > standstill;
}

// Calls back once when a moment has passed that may be moved any number of times before. Moving it later is a
// store: the timer behind it wakes at the earliest moment it was ever given, looks, and sleeps again. So a
// connection can renew its deadline with every read for nearly nothing.
//
// on_expiry runs on the executor, at most once for each moment set, never after clear() or the destructor.
// When the process stood still at that moment, a second chance passes before.
class deadline {
public:
    using clock = std::chrono::steady_clock;

    deadline(executor ex, std::function<void()> on_expiry);
    ~deadline();
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    void expires_at(clock::time_point when);
    void expires_after(clock::duration delay) { expires_at(clock::now() + delay); }
    void clear();

    // True from the moment on_expiry was called until the next expires_*() or clear().
    bool expired() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace restante
