#include "server/events/commit_subscribers.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

namespace restante {

void commit_publisher::on_commit(std::shared_ptr<const feed_entry> row) noexcept
try {
    fault_point("before_event");
    subscribers_.publish(home_, [row](commit_listener& listener) { listener.on_commit(row); });
} catch (const std::exception& e) {
    // An event is a hint: subscribers that missed it find the row when they next compare with the feed.
    log_line(log_level::error, "event_lost").field("error", e.what());
}

}  // namespace restante
