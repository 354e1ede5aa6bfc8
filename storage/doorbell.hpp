#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "core/wakeup.hpp"
#include "storage/doorbell_payload.hpp"
#include "storage/live_payload.hpp"
#include "storage/pq/connection.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace restante {

// Receives the notifications of other servers. Called on the doorbell's thread; must be quick and must not
// throw.
class doorbell_listener {
public:
    virtual ~doorbell_listener() = default;
    virtual void on_changes(const changes& heard) noexcept = 0;
    virtual void on_remote_event(std::shared_ptr<const live_event> heard) noexcept = 0;
};

// NOTIFY and LISTEN between the servers of one database, one doorbell a process.
//
// Sends at most one NOTIFY every 20 ms, on a connection of its own: a NOTIFY inside the upload's transaction
// would make every commit of the database wait for the one before it. Nothing here fails its callers. While
// the database is unavailable, notifications wait. Whenever it starts to listen again, the listener gets
// `everything`, because it may have missed some. This process's own notifications are ignored.
//
// Live events use a channel of their own, which servers of earlier versions do not listen to. They are hints:
// only so many of them wait, and the oldest go first. None is delivered twice, also when the reply to a
// NOTIFY is lost and it is sent again.
class doorbell {
public:
    doorbell(executor ex, pq::connect_options connect, doorbell_listener& listener);

    // On the doorbell's thread.
    void activity(const uuid& workspace, std::int64_t seq);
    void token_revoked(const uuid& token);
    void workspace_changed(const uuid& workspace);
    void workspace_removed(const uuid& workspace);
    void live(std::shared_ptr<const live_event> what);

    // Both end when the group is asked to stop; the ringer sends the final NOTIFY first.
    awaitable<void> run_ringer(task_group& tasks);
    awaitable<void> run_listener(task_group& tasks);

private:
    bool nothing_to_send() const;
    void write_payloads();
    awaitable<bool> ring();
    awaitable<bool> send_on_line();
    awaitable<bool> start_listening(std::unique_ptr<pq::connection>& line);
    awaitable<void> listen_on(pq::connection& line, task_group& tasks);
    void deliver(const pq::notification& heard);
    void add(std::vector<uuid>& to, const uuid& about);

    pq::connect_options connect_;
    doorbell_listener& listener_;
    const uuid self_ = make_uuid_v4();
    changes waiting_;
    std::deque<std::shared_ptr<const live_event>> live_;
    // Written and not yet sent.
    std::string payload_;
    std::vector<std::string> live_payloads_;
    std::int64_t payloads_written_ = 0;
    delivered_payloads delivered_;
    wakeup wake_;
    std::unique_ptr<pq::connection> ringing_line_;
};

}  // namespace restante
