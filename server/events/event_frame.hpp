#pragma once

#include "core/clock.hpp"
#include "server/events/event_memory.hpp"
#include "storage/activity.hpp"
#include "storage/feed_tail.hpp"
#include "storage/live_event.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace restante {

// What subscribers get of one row of the feed, or of a live event: the text once, for all of them, and what
// is needed to send it in order and to measure its delay.
struct event {
    std::int64_t seq = 0;  // 0 for a live event, which is no row of the feed
    timestamp created_at{};
    std::string text;
    // AGENT_MESSAGE or USER_MESSAGE, for a row that is one. It is sent before the row's own text: a client
    // whose connection breaks between the two resumes before the row, and gets both again.
    std::string chat = {};
    event_memory::share held = {};

    std::size_t size() const { return text.size() + chat.size(); }
};
using shared_event = std::shared_ptr<const event>;

// Bodies above this, which only messages can have, are left out of frames (`bodies_omitted`): one of 16 MiB
// would push a client that keeps up out of its queue. The feed has them.
inline constexpr std::int64_t largest_in_frame = feed_tail::max_row_bytes;

// The ACTIVITY_LOGGED frame of the contract, on one line whatever white space the bodies hold.
void append_frame(std::string& out, const feed_row& row);
// About as long as that is, with the chat event that may go with it.
std::size_t frame_size(const feed_row& row);

// The row of a commit as frames show it; its texts belong to the entry.
feed_row view_of(const feed_entry& row);

shared_event make_event(const feed_row& row, event_memory& memory);

std::size_t frame_size(const live_event& what);
shared_event make_event(const live_event& what, event_memory& memory);

}  // namespace restante
