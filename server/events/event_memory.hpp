#pragma once

#include "core/metrics.hpp"

#include <cstddef>
#include <utility>

namespace restante {

// The bytes that one shard holds for its live listeners: texts of events, once however many listeners share
// them, and the pages that resumed streams are being sent.
class event_memory {
public:
    static constexpr std::size_t limit = 32u << 20;

    explicit event_memory(metric_set::number& shown) : shown_(shown) {}
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

    private:
        event_memory* of_ = nullptr;
        std::size_t bytes_ = 0;
    };

    std::size_t held() const { return held_; }
    bool has_room_for(std::size_t bytes) const { return held_ + bytes <= limit; }

private:
    void add(std::size_t bytes) { shown_.set(static_cast<double>(held_ += bytes)); }
    void remove(std::size_t bytes) { shown_.set(static_cast<double>(held_ -= bytes)); }

    metric_set::number& shown_;
    std::size_t held_ = 0;
};

}  // namespace restante
