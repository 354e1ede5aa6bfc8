#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "server/presence/event_pace.hpp"
#include "server/presence/presence_notes.hpp"
#include "server/presence/presence_source.hpp"
#include "storage/live_event.hpp"

namespace restante {

// Writes the signs of a shard every second, in one statement, flushes them when a stop is requested, and
// reports what they changed after the commit.
class presence_writer {
public:
    presence_writer(presence_notes& notes, presence_store& store, live_event_listener& events,
                    metric_set& metrics, const clock& time = real_clock());

    // Added before run().
    void add_source(const presence_source& who) { sources_.push_back(&who); }

    awaitable<void> run(task_group& tasks);

    // One write, now. A failed one is given back to the notes.
    awaitable<error_code> write();

private:
    void note_sources();
    awaitable<void> report(const presence_change& change);

    presence_notes& notes_;
    presence_store& store_;
    live_event_listener& events_;
    const clock& time_;
    std::vector<const presence_source*> sources_;
    clock::time_point sources_asked_{};
    event_pace pace_;
    metric_set::number& written_;
};

}  // namespace restante
