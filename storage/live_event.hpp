#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

#include <memory>
#include <optional>
#include <string>

namespace restante {

// Something that live clients are told of and that is not a row of the feed: a file was fetched, a workspace
// went offline. It is a hint like every event; what it says can also be read from the database.
struct live_event {
    uuid workspace{};
    std::string name;     // "UPLOAD_ACKED"
    std::string payload;  // a JSON object, on one line
    timestamp at{};
    // The token that staged the file it is about. Listeners with the scope `upload` hear only their own.
    std::optional<uuid> staged_by = {};
};

// Called on the listener's own thread, after the commit that the event reports. Must be quick and must not
// throw.
class live_event_listener {
public:
    virtual ~live_event_listener() = default;
    virtual void on_live_event(std::shared_ptr<const live_event> what) noexcept = 0;
};

}  // namespace restante
