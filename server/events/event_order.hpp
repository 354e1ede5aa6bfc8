#pragma once

#include "server/events/event_frame.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace restante {

// Puts the events of one workspace in order. They come from three sources: commits of this process, whose
// confirmations may overtake each other; rows read from the database; and notifications that the feed is
// ahead of what was delivered. The output is every row after the one it was opened at, each once, by rising
// seq.
class event_order {
public:
    using events = std::vector<shared_event>;

    // More events than this after a gap, or more bytes of them, are not kept: they will be read again with
    // what is missing.
    static constexpr std::size_t max_held = 256;
    static constexpr std::size_t max_held_bytes = 1u << 20;

    // Opened at the head of the feed: what follows it is new. Until then every event is held. A second call
    // is ignored.
    void open_at(std::int64_t head, events& ready);
    bool is_open() const { return open_; }

    // A row that was just committed; held while one before it is missing.
    void offer(shared_event next, events& ready);

    // A row that was read from the database, after all that it has between the last one and this one. A
    // number that is missing there is gone for good.
    void accept(shared_event next, events& ready);

    // The feed is known to reach this number.
    void note_head(std::int64_t head);

    // Rows up to here were queried and there are none: retention removed them first.
    void nothing_up_to(std::int64_t head, events& ready);

    // The feed itself has gone back, as after a restore of an older backup: continue from there.
    void restart_at(std::int64_t head);

    // Whether something has to be read from the database.
    bool behind() const { return open_ && known_ > last_; }
    std::int64_t last() const { return last_; }
    std::int64_t known() const { return known_; }

private:
    bool has_room_for(const event& next) const;
    void release(events& ready);
    shared_event take_first_held();

    bool open_ = false;
    std::int64_t last_ = 0;   // delivered
    std::int64_t known_ = 0;  // committed, as far as we know
    std::map<std::int64_t, shared_event> held_;
    std::size_t held_bytes_ = 0;
};

}  // namespace restante
