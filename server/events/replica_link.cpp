#include "server/events/replica_link.hpp"

#include <boost/asio/post.hpp>

namespace restante {

replica_link::replica_link(executor home, pq::connect_options connect, const bulletin_board& board)
    : board_(board), bell_(home, std::move(connect), *this)
{
}

void replica_link::start(task_group& tasks)
{
    tasks.spawn_supervised("doorbell_ringer", [this, &tasks] { return bell_.run_ringer(tasks); });
    tasks.spawn_supervised("doorbell_listener", [this, &tasks] { return bell_.run_listener(tasks); });
}

void replica_link::on_bell(const bell_news& heard) noexcept
{
    for (const auto& token : heard.revoked_tokens)
        board_.token_revoked(token, this);
    for (const auto& workspace : heard.changed_workspaces)
        board_.workspace_changed(workspace, this);
    for (const auto& workspace : heard.removed_workspaces)
        board_.workspace_removed(workspace, this);
    if (!heard.everything && heard.activity.empty())
        return;
    const auto shared = std::make_shared<const bell_news>(heard);
    for (const auto& shard : shards_)
        asio::post(shard.home, [&what = shard.what, shared] { what(*shared); });
}

}  // namespace restante
