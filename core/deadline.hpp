#pragma once

#include "core/asio.hpp"

#include <functional>
#include <memory>

namespace restante {

// A timer that fires this late means that the process itself was not running: stopped, starved, or on a
// paused machine. The awaited input may have arrived long ago, with no chance to read it.
inline constexpr auto standstill = std::chrono::milliseconds(500);
// The one-time extension in that case, so that pending input can be processed.
inline constexpr auto second_chance = std::chrono::milliseconds(500);

inline bool stood_still_since(std::chrono::steady_clock::time_point due)
{
    return std::chrono::steady_clock::now() - due > standstill;
}

// Calls back once when the deadline passes; the deadline may be moved any number of times before. Moving it
// later is one store: the underlying timer wakes at the earliest time ever set, checks, and sleeps again. So
// a connection can renew its deadline on every read for nearly nothing.
//
// on_expiry runs on the executor, at most once for each time set, never after clear() or the destructor. If
// the process was not running when the deadline passed, the second chance delays the call.
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

    // True from the call of on_expiry until the next expires_*() or clear().
    bool expired() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace restante
