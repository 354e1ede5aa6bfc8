#pragma once

#include "core/asio.hpp"

#include <boost/intrusive/list.hpp>

#include <optional>
#include <utility>

namespace restante {

// A counting semaphore: admits a limited number at a time, the rest wait in a queue. One shard's thread only.
class admission {
public:
    using time_point = std::chrono::steady_clock::time_point;

    // A place that is held, and given back by the destructor.
    class ticket {
    public:
        ticket() = default;
        explicit ticket(admission& from) : from_(&from) {}
        ticket(ticket&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
        ticket& operator=(ticket&& other) noexcept
        {
            std::swap(from_, other.from_);
            return *this;
        }
        ~ticket();

    private:
        admission* from_ = nullptr;
    };

    admission(executor ex, std::size_t places) : executor_(ex), places_(places) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;

    // Nothing when no place came free before `moment`. Throws operation_aborted when the coroutine is
    // cancelled.
    awaitable<std::optional<ticket>> enter_until(time_point moment);

    // A place if there is one now.
    std::optional<ticket> try_enter();

    std::size_t used() const { return used_; }

private:
    struct waiter
        : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        explicit waiter(executor ex) : timer(ex) {}
        steady_timer timer;
    };

    void leave();

    executor executor_;
    std::size_t places_;
    std::size_t used_ = 0;
    boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiters_;
};

}  // namespace restante
