#include "server/events/live_events.hpp"

#include "core/log.hpp"

namespace restante {

void live_event_publisher::on_live_event(std::shared_ptr<const live_event> what) noexcept
try {
    board_.publish(home_, [what](live_event_listener& listener) { listener.on_live_event(what); });
} catch (const std::exception& e) {
    log_line(log_level::error, "event_lost").field("error", e.what());
}

}  // namespace restante
