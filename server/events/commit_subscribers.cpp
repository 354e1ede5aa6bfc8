#include "server/events/commit_subscribers.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <boost/asio/post.hpp>

namespace restante {

void commit_fanout::on_commit(std::shared_ptr<const committed_activity> row) noexcept
try {
    fault_point("before_event");
    for (const auto& each : board_.readers_) {
        if (each.home == home_)
            each.listener->on_commit(row);
        else
            asio::post(each.home, [listener = each.listener, row] { listener->on_commit(row); });
    }
} catch (const std::exception& e) {
    // An event is a hint: those who missed it find the row when they next compare themselves with the feed.
    log_line(log_level::error, "event_lost").field("error", e.what());
}

}  // namespace restante
