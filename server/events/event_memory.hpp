#pragma once

#include "core/metrics.hpp"
#include "core/wakeup.hpp"

#include <cstddef>
#include <utility>

namespace restante {

// The bytes that one shard holds for its live listeners: texts of events, once however many listeners share
// them, and the pages that resumed streams are being sent.
class event_memory {
public:
    static constexpr std::size_t limit = 32u << 20;

    event_memory(executor ex, metric_set::number& shown) : shown_(shown), given_back_(ex) {}
    event_memory(const event_memory&) = delete;
    event_memory& operator=(const event_memory&) = delete;

    // Counts these bytes for as long as it lives. The memory must outlive it.
    class share {
    public:
        share() = default;
        share(event_memory& of, std::size_t bytes) : of_(&of), bytes_(bytes) { of_->add(bytes_); }
        share(share&& other) noexcept : of_(std::exchange(other.of_, nullptr)), bytes_(other.bytes_) {}
        share& operator=(share&&) = delete;
        ~share()
        {
            if (of_)
                of_->remove(bytes_);
        }

        // For what was counted before its size was known.
        void resize(std::size_t bytes)
        {
            of_->add(bytes);
            of_->remove(std::exchange(bytes_, bytes));
        }

    private:
        event_memory* of_ = nullptr;
        std::size_t bytes_ = 0;
    };

    std::size_t held() const { return held_; }
    bool has_room_for(std::size_t bytes) const { return held_ + bytes <= limit; }
    // False when nothing was given back until then.
    awaitable<bool> wait_for_release(wakeup::time_point end) { return given_back_.wait_until(end); }

private:
    void add(std::size_t bytes) { shown_.set(static_cast<double>(held_ += bytes)); }
    void remove(std::size_t bytes)
    {
        shown_.set(static_cast<double>(held_ -= bytes));
        given_back_.notify_all();
    }

    metric_set::number& shown_;
    wakeup given_back_;
    std::size_t held_ = 0;
};

}  // namespace restante
