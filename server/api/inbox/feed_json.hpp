#pragma once

#include "core/error.hpp"
#include "storage/activity_feed.hpp"

#include <string>

namespace restante {

// Where the agent card of a peer is found: the address that the client has called us by.
struct peer_info_at {
    std::string base;  // "https://restante.example"
};

// With an address, rows also tell of peers and files (`include=peer_info`).

// A page as the array of the contract. Fails only when the database's columns are not what the program was
// built for.
result<std::string> feed_json(const feed_page& page, const peer_info_at* with_peers);

// One row of it. Bodies are JSON already and are sent as they were received.
void append_feed_row(std::string& out, const feed_row& row, const peer_info_at* with_peers);

}  // namespace restante
