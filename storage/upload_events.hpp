#pragma once

#include "core/sha256.hpp"
#include "storage/live_event.hpp"

#include <vector>

namespace restante {

// How far a file has come. Nothing follows acked and expired.
enum class upload_state { staged, fetched, acked, expired };

std::string_view to_string(upload_state state);

// The database's clock says whether a file has expired; an acked one cannot any more.
upload_state state_of(bool fetched, bool acked, bool past_expiry);

// A number that only rises in the life of a file, for those who wait for it: staged, fetched, ended.
std::int64_t progress_of(upload_state state);

// A file that has just reached another state, as its statement returned it.
struct upload_change {
    uuid workspace{};
    uuid file{};
    std::string filename = {};
    std::int64_t size = 0;
    digest32 sha256{};
    timestamp at{};
    std::optional<uuid> staged_by = {};
};

// UPLOAD_FETCHED, UPLOAD_ACKED or UPLOAD_EXPIRED, with what the receipt says of it.
live_event make_upload_event(upload_state reached, const upload_change& what);

// Tells the listener, if there is one, of changes that have been committed.
void tell_upload_changes(live_event_listener* listener, upload_state reached,
                         const std::vector<upload_change>& changes) noexcept;

// What such an event is about; nothing for events of other kinds.
struct upload_news {
    uuid file{};
    upload_state reached{};
};
std::optional<upload_news> read_upload_event(const live_event& event);

}  // namespace restante
