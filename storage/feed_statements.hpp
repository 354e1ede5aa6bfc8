#pragma once

#include "storage/pq/statement.hpp"

namespace restante {

// Where a page of the feed begins.
enum class feed_start {
    newest,     // no cursor: the newest rows, newest first
    after_id,   // after a row, oldest first
    after_seq,  // after a number, oldest first
    past_gaps,  // after a number, oldest first, whether or not the rows right after it were removed
};

// Which rows it shows: one value for each way through the indexes.
enum class feed_shape {
    everything,
    type,
    canvas,
    agent,
    type_canvas,
    type_agent,
    peer,  // to and from another workspace
    self,  // to and from the workspace itself
};

// Parameters of all of them: $1 workspace, $2 limit (at most 500), $3 seconds back from now or NULL, $4 the
// moment before which rows must be or NULL, $5 the cursor (an id, a number, or 0 for newest). Besides: with
// type*, $6 the type; with peer, $6 the peer; with peer and self, the next two are a type or NULL and "from
// the canvas" or NULL.
//
// Gives no row when the cursor row is not known or rows after the number have been removed, and one row
// without an id when there is nothing to show. Every row tells the number that the page begins after, and the
// bytes of its bodies and texts if these are too large to come along.
const statement& feed_statement(feed_start start, feed_shape shape, bool with_peer_info);

}  // namespace restante
