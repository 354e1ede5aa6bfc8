#pragma once

#include "core/task_group.hpp"
#include "core/wakeup.hpp"
#include "server/events/parked_requests.hpp"
#include "storage/receipts.hpp"

namespace restante {

// The requests of one shard that wait until a file has been fetched or acked. Events wake them; since an
// event is only a hint, the database is asked every 3 s too, in one statement for all of them.
class parked_receipts final : public parked_requests, public live_event_listener {
public:
    parked_receipts(executor ex, receipt_store& receipts, metric_set& metrics);

    void on_live_event(std::shared_ptr<const live_event> what) noexcept override;

    // Ends when the group is asked to stop.
    awaitable<void> run_checks(task_group& tasks);
    // Events may have been missed: check now instead of in a few seconds.
    void check_now() noexcept;

private:
    awaitable<void> check();

    receipt_store& receipts_;
    wakeup wake_;
    bool wanted_ = false;
};

}  // namespace restante
