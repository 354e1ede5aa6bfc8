#include "server/app/signals.hpp"

#include <initializer_list>
#include <pthread.h>

namespace restante {

namespace {

sigset_t make_set(std::initializer_list<int> signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals)
        sigaddset(&set, signal);
    return set;
}

const sigset_t deadly = make_set({SIGTERM, SIGINT});

}  // namespace

signal_watch::signal_watch() : watched_(make_set({SIGTERM, SIGINT, SIGHUP}))
{
    ::pthread_sigmask(SIG_BLOCK, &watched_, nullptr);
    // A peer that hangs up is an error code of the write, not a signal.
    std::signal(SIGPIPE, SIG_IGN);
}

void signal_watch::wait_for_stop(const std::function<void()>& on_hangup) const
{
    for (;;) {
        int signal = 0;
        if (::sigwait(&watched_, &signal) != 0)
            continue;
        if (signal != SIGHUP)
            return;
        on_hangup();
    }
}

bool signal_watch::stop_pending() const
{
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

void signal_watch::let_next_one_kill() const
{
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
}

killable::killable()
{
    ::pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
}

killable::~killable()
{
    ::pthread_sigmask(SIG_BLOCK, &deadly, nullptr);
}

}  // namespace restante
