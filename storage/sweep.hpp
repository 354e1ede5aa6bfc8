#pragma once

#include "storage/pending_uploads.hpp"
#include "storage/sweep_time.hpp"

namespace restante {

// What a sweep removed, and the error that ended it early. Batches commit one by one: rows removed before a
// failure stay removed, so both are reported.
struct sweep_outcome {
    sweep_counts gone;
    bool more = false;  // time ran out before the rows did
    error_code failure;
};

struct forget_outcome {
    std::int64_t gone = 0;
    bool more = false;
    error_code failure;
};

// One cycle, as `restante status` shows it.
struct sweep_record {
    sweep_counts gone;
    std::chrono::microseconds took{};
    error_code failure;
};

// Removes rows that are no longer needed, in batches that are each a short transaction. The database's clock
// decides whether a row is due. Rows that another transaction has locked, another sweeper's for one, are
// skipped: any number of sweepers share the work, none waits and none deadlocks.
//
// Failures are those of the pool and of statements; schema_missing when the tables are not there.
class storage_sweep {
public:
    // The listener hears of files that expired, after the commit that removed them.
    explicit storage_sweep(pq::connection_pool& db, live_event_listener* listener = nullptr)
        : db_(db), listener_(listener)
    {
    }

    // Files that were acked longer ago than the retention, and files that expired without an ack. Zero
    // removes every acked file; a negative retention is taken as zero.
    awaitable<sweep_outcome> sweep(std::chrono::microseconds ack_retention, sweep_time time);

    // Expired idempotency keys and fences.
    awaitable<forget_outcome> forget_requests(sweep_time time);

    // Activity older than the retention; see forget_activity() in sql/ for what stays. Resumes where the last
    // call had to stop.
    awaitable<forget_outcome> forget_activity(std::chrono::microseconds retention, sweep_time time);

    // Receipts of files that ended longer ago than the retention.
    awaitable<forget_outcome> forget_receipts(std::chrono::microseconds retention, sweep_time time);

    awaitable<error_code> record(sweep_record cycle);

private:
    // One kind of row, swept along its own index. `after` is the key of the last row that was removed: a
    // batch need not walk past the dead rows of the batches before it, which PostgreSQL keeps until VACUUM.
    struct rows_to_go {
        const statement& next_batch;
        std::chrono::microseconds retention{};
        int key = 0;                              // the column of the key
        live_event_listener* listener = nullptr;  // hears of each, where rows are files that expired
        std::optional<timestamp> after = {};
        std::int64_t gone = 0;
        bool done = false;
    };
    awaitable<error_code> take_batch(rows_to_go& rows);
    awaitable<error_code> take_in_turns(std::span<rows_to_go> kinds, sweep_time time);
    awaitable<forget_outcome> take_all(rows_to_go rows, sweep_time time);

    pq::connection_pool& db_;
    live_event_listener* listener_;
    uuid activity_reached_{};
};

}  // namespace restante
