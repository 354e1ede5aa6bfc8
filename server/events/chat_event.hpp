#pragma once

#include "storage/activity_feed.hpp"

#include <string>

namespace restante {

// The event that a canvas reads beside ACTIVITY_LOGGED, on one line: AGENT_MESSAGE for a notice of the agent,
// USER_MESSAGE for what a person sent; empty for other rows. It follows from the row alone, so every server
// that reads the row can make it, and nothing else has to be passed on.
std::string make_chat_event(const feed_row& row);

}  // namespace restante
