#pragma once

#include "core/wakeup.hpp"

namespace restante::client {

// So many at the same time, and no more.
class slots {
public:
    slots(executor ex, unsigned count) : count_(count), free_(count), released_(ex) {}

    // One of them, until the end of this object.
    class held {
    public:
        explicit held(slots& owner) : owner_(&owner) {}
        held(held&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
        held& operator=(held&&) = delete;
        ~held()
        {
            if (owner_)
                owner_->release();
        }

    private:
        slots* owner_;
    };

    awaitable<held> take()
    {
        while (free_ == 0)
            co_await released_.wait();
        --free_;
        co_return held(*this);
    }

    bool are_held() const { return free_ < count_; }

private:
    void release()
    {
        ++free_;
        released_.notify_all();
    }

    const unsigned count_;
    unsigned free_;
    wakeup released_;
};

}  // namespace restante::client
