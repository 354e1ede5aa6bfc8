#pragma once

#include "storage/pending_uploads.hpp"
#include "storage/sweep_time.hpp"

namespace restante {

// What a sweep took, and what ended it early. Batches commit one by one: rows that went before a failure are
// gone all the same, so both are told.
struct sweep_outcome {
    sweep_counts gone;
    bool more = false;  // the time was over before the rows were
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

// Removes what nobody will ask for again, in batches that are each a short transaction. Whether a row's time
// has come is decided by the database's clock. Rows that somebody else holds, another sweeper for one, are
// passed over: any number of sweepers share the work, none waits and none deadlocks.
//
// Failures are those of the pool and of statements; schema_missing when the tables are not there.
class storage_sweep {
public:
    explicit storage_sweep(pq::connection_pool& db) : db_(db) {}

    // Files that were acked longer ago than the retention, and files that expired without an ack. Zero takes
    // every acked file; a negative retention is taken as zero.
    awaitable<sweep_outcome> sweep(std::chrono::microseconds ack_retention, sweep_time time);

    // Idempotency keys and fences whose time is over.
    awaitable<forget_outcome> forget_requests(sweep_time time);

    // Activity older than the retention; see forget_activity() in sql/ for what stays. Goes on where the last
    // call had to stop.
    awaitable<forget_outcome> forget_activity(std::chrono::microseconds retention, sweep_time time);

    awaitable<error_code> record(sweep_record cycle);

private:
    // One kind of row, swept along its own index. `after` is the key of the last row that went: a batch need
    // not walk past the remains of the batches before it, which PostgreSQL keeps until VACUUM comes.
    struct rows_to_go {
        const statement& next_batch;
        std::chrono::microseconds retention{};
        std::optional<timestamp> after = {};
        std::int64_t gone = 0;
        bool done = false;
    };
    awaitable<error_code> take_batch(rows_to_go& rows);
    awaitable<error_code> take_in_turns(std::span<rows_to_go> kinds, sweep_time time);

    pq::connection_pool& db_;
    uuid activity_reached_{};
};

}  // namespace restante
