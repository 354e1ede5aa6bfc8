#pragma once

#include "auth/bulletin.hpp"
#include "storage/activity.hpp"
#include "storage/doorbell.hpp"

#include <functional>
#include <vector>

namespace restante {

// Between the shards of this process and the other servers of its database. Lives on one shard; the others
// are reached by posting.
class replica_link final : public bell_listener, public bulletin_reader, public commit_listener {
public:
    // Called on that shard's thread.
    using hear = std::function<void(const bell_news&)>;

    replica_link(executor home, pq::connect_options connect, const bulletin_board& board);

    // Before the shards run.
    void add_shard(executor ex, hear what) { shards_.push_back({ex, std::move(what)}); }

    void start(task_group& tasks);

    void on_bell(const bell_news& heard) noexcept override;

    // What this process has done is rung; what it has heard is not, or it would go round for ever.
    void on_commit(std::shared_ptr<const committed_activity> row) noexcept override
    {
        bell_.activity(row->what.workspace_id, row->seq);
    }
    void on_token_revoked(const uuid& token) noexcept override { bell_.token_revoked(token); }
    void on_workspace_changed(const uuid& workspace) noexcept override { bell_.workspace_changed(workspace); }
    void on_workspace_removed(const uuid& workspace) noexcept override { bell_.workspace_removed(workspace); }

private:
    struct outpost {
        executor home;
        hear what;
    };

    const bulletin_board& board_;
    doorbell bell_;
    std::vector<outpost> shards_;
};

}  // namespace restante
