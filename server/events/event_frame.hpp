#pragma once

#include "core/clock.hpp"
#include "server/events/event_memory.hpp"
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
    event_memory::share held = {};
};
using shared_event = std::shared_ptr<const event>;

// The ACTIVITY_LOGGED frame of the contract, on one line whatever white space the bodies hold.
void append_frame(std::string& out, const feed_row& row);
// About as long as that is.
std::size_t frame_size(const feed_row& row);

// The row of a commit as a reader of the feed sees it; its texts belong to the entry.
feed_row view_of(const feed_entry& row);

shared_event make_event(const feed_row& row, event_memory& memory);

}  // namespace restante
