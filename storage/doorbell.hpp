#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "core/wakeup.hpp"
#include "storage/doorbell_payload.hpp"
#include "storage/pq/connection.hpp"

#include <memory>
#include <string>

namespace restante {

// Receives the notifications of other servers. Called on the doorbell's thread; must be quick and must not
// throw.
class doorbell_listener {
public:
    virtual ~doorbell_listener() = default;
    virtual void on_changes(const changes& heard) noexcept = 0;
};

// NOTIFY and LISTEN between the servers of one database, one doorbell a process.
//
// Sends at most one NOTIFY every 20 ms, on a connection of its own: a NOTIFY inside the upload's transaction
// would make every commit of the database wait for the one before it. Nothing here fails its callers. While
// the database is unavailable, notifications wait. Whenever it starts to listen again, the listener gets
// `everything`, because it may have missed some. This process's own notifications are ignored.
class doorbell {
public:
    doorbell(executor ex, pq::connect_options connect, doorbell_listener& listener);

    // On the doorbell's thread.
    void activity(const uuid& workspace, std::int64_t seq);
    void token_revoked(const uuid& token);
    void workspace_changed(const uuid& workspace);
    void workspace_removed(const uuid& workspace);

    // Both end when the group is asked to stop; the ringer sends the final NOTIFY first.
    awaitable<void> run_ringer(task_group& tasks);
    awaitable<void> run_listener(task_group& tasks);

private:
    awaitable<bool> ring();
    awaitable<bool> start_listening(std::unique_ptr<pq::connection>& line);
    awaitable<void> listen_on(pq::connection& line, task_group& tasks);
    void deliver(const pq::notification& heard);
    void add(std::vector<uuid>& to, const uuid& about);

    pq::connect_options connect_;
    doorbell_listener& listener_;
    const uuid self_ = make_uuid_v4();
    changes waiting_;
    std::string payload_;  // written and not yet sent
    wakeup wake_;
    std::unique_ptr<pq::connection> ringing_line_;
};

}  // namespace restante
