#pragma once

#include "core/error.hpp"
#include "storage/activity_feed.hpp"

#include <string>

namespace restante {

// A page as the array of the contract. Fails only when the database's columns are not what the program was
// built for.
result<std::string> feed_json(const feed_page& page, bool with_peer_info);

// One row of it. Bodies are JSON already and are sent as they were received.
void append_feed_row(std::string& out, const feed_row& row, bool with_peer_info);

}  // namespace restante
