#pragma once

#include <csignal>
#include <functional>

namespace restante {

// SIGTERM, SIGINT and SIGHUP, blocked in the thread that makes this and all it starts afterwards, so that
// they are taken here and nowhere else. Make it before any thread.
class signal_watch {
public:
    signal_watch();

    // Blocks the calling thread until SIGTERM or SIGINT; calls `on_hangup` for each SIGHUP meanwhile.
    void wait_for_stop(const std::function<void()>& on_hangup) const;

    // Whether SIGTERM or SIGINT has come and was not taken yet.
    bool stop_pending() const;

    // From now on the next SIGTERM or SIGINT ends the process at once.
    void let_next_one_kill() const;

private:
    sigset_t watched_;
};

// While it lives, SIGTERM and SIGINT end the process at once, although a signal_watch exists: for waits after
// which nothing would have to be cleaned up.
class killable {
public:
    killable();
    ~killable();
    killable(const killable&) = delete;
    killable& operator=(const killable&) = delete;
};

}  // namespace restante
