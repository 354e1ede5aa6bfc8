#pragma once

#include "server/events/head_check.hpp"
#include "server/events/parked_requests.hpp"
#include "server/presence/presence_source.hpp"
#include "storage/activity.hpp"

namespace restante {

// The long polls of one shard that wait for a row: what they have read reaches some row of their workspace's
// feed.
class parked_polls final : public parked_requests,
                           public commit_listener,
                           public head_follower,
                           public presence_source {
public:
    parked_polls(executor ex, metric_set& metrics)
        : parked_requests(ex, metrics.gauge("molecule_parked_polls", "Long polls that wait for a row."))
    {
    }

    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override
    {
        wake(row->what.workspace_id, row->seq);
    }
    void add_followed(std::vector<uuid>& to) const override { add_awaited(to); }
    void on_head(const activity_head& head) override { wake(head.workspace, head.seq); }
    void add_present(std::vector<uuid>& to) const override { add_agents(to); }
};

}  // namespace restante
