#pragma once

#include "core/shard_board.hpp"
#include "storage/live_event.hpp"

namespace restante {

// Everything in this process that live events are passed to: the hub of each shard, waiting senders, the
// doorbell.
using live_event_board = shard_board<live_event_listener>;

// Where the writers of one shard report what they have committed.
class live_event_publisher final : public live_event_listener {
public:
    live_event_publisher(executor home, const live_event_board& board) : home_(home), board_(board) {}

    void on_live_event(std::shared_ptr<const live_event> what) noexcept override;

private:
    executor home_;
    const live_event_board& board_;
};

}  // namespace restante
