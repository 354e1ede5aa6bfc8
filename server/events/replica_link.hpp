#pragma once

#include "auth/identity_notices.hpp"
#include "server/events/live_events.hpp"
#include "storage/activity.hpp"
#include "storage/doorbell.hpp"

#include <functional>
#include <vector>

namespace restante {

// Connects the shards of this process with the other servers of its database. Lives on one shard; the others
// are reached by posting.
class replica_link final : public doorbell_listener,
                           public identity_listener,
                           public commit_listener,
                           public live_event_listener {
public:
    // Called on that shard's thread.
    using apply_remote = std::function<void(const changes&)>;

    replica_link(executor home, pq::connect_options connect, const identity_notices& notices,
                 const live_event_board& live);

    // Before the shards run.
    void add_shard(executor ex, apply_remote apply) { shards_.push_back({ex, std::move(apply)}); }

    void start(task_group& tasks);

    void on_changes(const changes& heard) noexcept override;
    void on_remote_event(std::shared_ptr<const live_event> heard) noexcept override;

    // This process's own changes are sent as notifications; received ones are not, or they would circulate
    // for ever.
    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override
    {
        doorbell_.activity(row->what.workspace_id, row->seq);
    }
    void on_live_event(std::shared_ptr<const live_event> what) noexcept override;
    void on_token_revoked(const uuid& token) noexcept override { doorbell_.token_revoked(token); }
    void on_workspace_changed(const uuid& workspace) noexcept override
    {
        doorbell_.workspace_changed(workspace);
    }
    void on_workspace_removed(const uuid& workspace) noexcept override
    {
        doorbell_.workspace_removed(workspace);
    }

private:
    struct remote_shard {
        executor home;
        apply_remote apply;
    };

    const identity_notices& notices_;
    const live_event_board& live_;
    doorbell doorbell_;
    std::vector<remote_shard> shards_;
};

}  // namespace restante
