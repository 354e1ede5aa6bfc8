#pragma once

#include "core/asio.hpp"

#include <functional>
#include <memory>

namespace restante {

// Calls back once when a moment has passed that may be moved any number of times before. Moving it later is a
// store: the timer behind it wakes at the earliest moment it was ever given, looks, and sleeps again. So a
// connection can renew its deadline with every read for nearly nothing.
//
// on_expiry runs on the executor, at most once for each moment set, never after clear() or the destructor.
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
