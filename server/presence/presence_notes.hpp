#pragma once

#include "auth/identity_notices.hpp"
#include "core/clock.hpp"
#include "core/secret_hash.hpp"
#include "storage/presence.hpp"

#include <map>
#include <set>
#include <unordered_map>

namespace restante {

// What a heartbeat says.
struct heartbeat {
    agent_report report;
    std::int64_t uptime_seconds = 0;
};

// The signs of life that a shard has not written yet. Writing each heartbeat would rewrite a row a beat, so a
// workspace is written when it appears, when its report changes, and else once an interval: by a sign in the
// last quarter of the interval, so that an agent's row is fresh when it is written, or at the end, with the
// sign that was held. So what the database knows is never older than an interval if there is anything newer,
// and exact once an agent has been silent for that long.
//
// An agent may reach several shards and servers, each of which knows only what it heard itself. So whatever
// is written because of a heartbeat carries the report, changed or not.
//
// A request only adds an entry here; the writer does the rest.
class presence_notes final : public identity_listener {
public:
    // Beyond so many workspaces, or so many bytes of their reports, each sign of a further one is written.
    static constexpr std::size_t max_known = 100'000;
    static constexpr std::size_t max_text = 8u << 20;
    // Signs that wait for the next write. Those beyond it are lost until the agent sends the next one.
    static constexpr std::size_t max_due = 10'000;

    explicit presence_notes(clock::time_point::duration interval) : interval_(interval) {}

    // A heartbeat, or, without one, a poll.
    void note(const uuid& workspace, clock::time_point now, const heartbeat* beat = nullptr);

    // Everything that is to be written now. What could not be written is given back; if something newer has
    // taken its place, that stays.
    std::vector<presence_sign> take(clock::time_point now);
    void give_back(std::vector<presence_sign> unwritten, clock::time_point now);

    // Registration has reset what the database knows, so the next heartbeat is written whatever it says.
    void on_workspace_changed(const uuid& workspace) noexcept override;
    void on_workspace_removed(const uuid& workspace) noexcept override { forget(workspace); }

    clock::time_point::duration interval() const { return interval_; }
    std::size_t known() const { return known_.size(); }

private:
    struct entry {
        clock::time_point seen;
        clock::time_point written;  // the sign that was written last
        bool held = false;       // seen since it was last written
        bool beat_held = false;  // and it was a heartbeat
        bool outdated = false;   // the database may know something else than we have written
        std::optional<heartbeat> said = {};
    };
    using entries = std::unordered_map<uuid, entry, secret_hash>;
    struct pending {
        clock::time_point seen;
        std::optional<std::int64_t> uptime = {};
        std::optional<agent_report> report = {};
    };

    pending* find_or_add_due(const uuid& workspace);
    bool put_due(const uuid& workspace, clock::time_point seen, const heartbeat* beat);
    void begin(const uuid& workspace, clock::time_point now, const heartbeat* beat);
    bool write(entries::value_type& known);
    void end_windows(clock::time_point now);
    void forget(const uuid& workspace) noexcept;
    void drop(entries::iterator at) noexcept;

    clock::time_point::duration interval_;
    entries known_;
    std::size_t text_ = 0;                                   // of their reports
    std::set<std::pair<clock::time_point, uuid>> written_;  // an interval later a newer one must be written
    std::map<uuid, pending> due_;
};

}  // namespace restante
