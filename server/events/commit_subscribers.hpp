#pragma once

#include "core/asio.hpp"
#include "storage/activity.hpp"

#include <vector>

namespace restante {

// Everybody in this process who wants to hear of commits, and the thread each lives on.
class commit_board {
public:
    // Before the shards run; listeners live as long as their shards do.
    void subscribe(executor home, commit_listener& listener) { readers_.push_back({home, &listener}); }

private:
    friend class commit_fanout;
    struct reader {
        executor home;
        commit_listener* listener;
    };
    std::vector<reader> readers_;
};

// What a shard's writers tell of their commits: those on the same shard hear it at once, the others when
// their threads come to it. The upload's answer waits for neither.
class commit_fanout final : public commit_listener {
public:
    commit_fanout(executor home, const commit_board& board) : home_(home), board_(board) {}

    void on_commit(std::shared_ptr<const committed_activity> row) noexcept override;

private:
    executor home_;
    const commit_board& board_;
};

}  // namespace restante
