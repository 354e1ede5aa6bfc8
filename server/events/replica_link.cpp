#include "server/events/replica_link.hpp"

#include <boost/asio/post.hpp>

namespace restante {

replica_link::replica_link(executor home, pq::connect_options connect, const identity_notices& notices,
                           const live_event_board& live)
    : notices_(notices), live_(live), doorbell_(home, std::move(connect), *this)
{
}

void replica_link::start(task_group& tasks)
{
    tasks.spawn_supervised("doorbell_ringer", [this, &tasks] { return doorbell_.run_ringer(tasks); });
    tasks.spawn_supervised("doorbell_listener", [this, &tasks] { return doorbell_.run_listener(tasks); });
}

void replica_link::on_live_event(std::shared_ptr<const live_event> what) noexcept
try {
    doorbell_.live(std::move(what));
} catch (const std::bad_alloc&) {
    // Servers that miss a hint lose nothing that they cannot read.
}

void replica_link::on_remote_event(std::shared_ptr<const live_event> heard) noexcept
{
    live_.post([heard](live_event_listener& listener) { listener.on_live_event(heard); }, this);
}

void replica_link::on_changes(const changes& heard) noexcept
{
    for (const auto& token : heard.revoked_tokens)
        notices_.token_revoked(token, this);
    for (const auto& workspace : heard.changed_workspaces)
        notices_.workspace_changed(workspace, this);
    for (const auto& workspace : heard.removed_workspaces)
        notices_.workspace_removed(workspace, this);
    if (!heard.everything && heard.activity.empty())
        return;
    const auto shared = std::make_shared<const changes>(heard);
    for (const auto& shard : shards_)
        asio::post(shard.home, [&apply = shard.apply, shared] { apply(*shared); });
}

}  // namespace restante
