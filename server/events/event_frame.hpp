#pragma once

#include "core/clock.hpp"
#include "storage/activity.hpp"
#include "storage/activity_feed.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace restante {

// What subscribers get of one row of the feed: the text once, for all of them, and what is needed to send it
// in order and to measure its delay.
struct event {
    std::int64_t seq = 0;
    timestamp created_at{};
    std::string text;
};
using shared_event = std::shared_ptr<const event>;

// The ACTIVITY_LOGGED frame of the contract, on one line whatever white space the bodies hold.
shared_event make_event(const feed_row& row);
shared_event make_event(const feed_entry& row);

}  // namespace restante
