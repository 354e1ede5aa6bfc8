// The side of the hub that passes on events which are not rows of the feed.
#include "core/log.hpp"
#include "server/events/hub.hpp"

namespace restante {

// They have no number and take no part in the order of the feed. One that finds no room is left out: a hint
// is not worth a listener.
void hub::on_live_event(std::shared_ptr<const live_event> what) noexcept
try {
    const auto found = streams_.find(what->workspace);
    if (found == streams_.end() && to_all_.empty())
        return;
    if (!memory_.has_room_for(frame_size(*what))) {
        metrics_.dropped.add();
        return;
    }
    const auto event = make_event(*what, memory_);
    if (found != streams_.end())
        for (auto& listener : found->second.listeners)
            if (listener.who().may_learn_of(what->staged_by))
                listener.put_hint(event);
    for (auto& listener : to_all_)
        listener.put_hint(event);
} catch (const std::exception& e) {
    log_line(log_level::error, "event_lost").field("error", e.what());
}

}  // namespace restante
