#pragma once

#include "core/shard_board.hpp"
#include "storage/activity.hpp"

namespace restante {

// Everything in this process that follows commits: parked polls, live clients, the doorbell.
using commit_subscribers = shard_board<commit_listener>;

// Where the writers of one shard report their commits. Subscribers on the same shard are called at once, the
// others when their threads come to it. The upload's answer waits for neither.
class commit_publisher final : public commit_listener {
public:
    commit_publisher(executor home, const commit_subscribers& subscribers)
        : home_(home), subscribers_(subscribers)
    {
    }

    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override;

private:
    executor home_;
    const commit_subscribers& subscribers_;
};

}  // namespace restante
