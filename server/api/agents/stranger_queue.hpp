#pragma once

#include "core/error.hpp"
#include "core/wakeup.hpp"

#include <utility>

namespace restante {

// A flood of requests without a token may keep one connection to the database busy, not all of them: one is
// looked up at a time, and some wait.
class stranger_queue {
public:
    static constexpr std::size_t most_waiting = 64;
    static constexpr auto longest_wait = std::chrono::seconds(1);

    explicit stranger_queue(executor ex) : freed_(ex) {}

    // The right to one look-up, given back at its end. Must not outlive the queue.
    class turn {
    public:
        explicit turn(stranger_queue& of) : of_(&of) {}
        turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        turn& operator=(turn&&) = delete;
        ~turn();

    private:
        stranger_queue* of_;
    };

    // Errors: database_busy (too many are waiting already, or it took too long).
    awaitable<result<turn>> wait();

private:
    wakeup freed_;
    bool taken_ = false;
    std::size_t waiting_ = 0;
};

}  // namespace restante
