#include "server/api/agents/stranger_queue.hpp"

namespace restante {

namespace {

// Counts also when the coroutine that waits is cancelled.
class place {
public:
    explicit place(std::size_t& count) : count_(count) { ++count_; }
    ~place() { --count_; }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

private:
    std::size_t& count_;
};

}  // namespace

stranger_queue::turn::~turn()
{
    if (!of_)
        return;
    of_->taken_ = false;
    of_->freed_.notify_all();
}

awaitable<result<stranger_queue::turn>> stranger_queue::wait()
{
    if (taken_ && waiting_ >= most_waiting)
        co_return RESTANTE_ERROR(errc::database_busy);
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    const place waiting(waiting_);
    while (taken_) {
        const bool freed = co_await freed_.wait_until(until);
        if (!freed && taken_)
            co_return RESTANTE_ERROR(errc::database_busy);
    }
    taken_ = true;
    co_return turn(*this);
}

}  // namespace restante
