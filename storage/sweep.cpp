#include "storage/sweep.hpp"

#include "core/fault_point.hpp"
#include "storage/upload_change_columns.hpp"

#include <algorithm>

namespace restante {

namespace {

// For the transaction of one batch: a plan made while there was no backlog would sort the whole backlog again
// and again, so only index scans are left to choose from.
const statement prepare_batch{"sweep_prepare",
                              "SELECT set_config('enable_seqscan', 'off', true), "
                              "set_config('enable_bitmapscan', 'off', true)"};

// Each locks up to 200 rows along its index, removes them, and returns the key of each. Of files
// it removes only those that begin within 1 MiB: removing bytes writes as much to the WAL as storing them
// did, and the commits of uploads wait behind it; bytes outside of the rows do not count. A locked row does not move, so its ctid is as good as its
// key and ten times faster.
#define INLINE_BYTES "CASE WHEN content_key IS NULL THEN size_bytes ELSE 0 END AS bytes"

const statement take_acked{
    "sweep_acked",
    "DELETE FROM pending_uploads WHERE ctid = ANY (ARRAY("
    "SELECT place FROM (SELECT place, sum(bytes) OVER (ORDER BY acked_at, place) - bytes AS before "
    "FROM (SELECT ctid AS place, " INLINE_BYTES ", acked_at FROM pending_uploads "
    "WHERE acked_at >= coalesce($2::timestamptz, '-infinity') "
    "AND acked_at <= now() - $1::int8 * interval '1 microsecond' "
    "ORDER BY acked_at LIMIT 200 FOR UPDATE SKIP LOCKED) AS locked) AS summed WHERE before < 1048576)) "
    "RETURNING acked_at"};

// Returns what the event of each says, its key among that.
const statement take_expired{
    "sweep_expired",
    "DELETE FROM pending_uploads AS u WHERE ctid = ANY (ARRAY("
    "SELECT place FROM (SELECT place, sum(bytes) OVER (ORDER BY expires_at, place) "
    "- bytes AS before FROM (SELECT ctid AS place, " INLINE_BYTES ", expires_at FROM pending_uploads "
    "WHERE acked_at IS NULL AND expires_at >= coalesce($2::timestamptz, '-infinity') "
    "AND expires_at <= now() - $1::int8 * interval '1 microsecond' "
    "ORDER BY expires_at LIMIT 200 FOR UPDATE SKIP LOCKED) AS locked) AS summed WHERE before < 1048576)) "
    "RETURNING " UPLOAD_CHANGE_COLUMNS("u", "u.expires_at")};

const statement take_requests{
    "sweep_requests",
    "DELETE FROM upload_requests WHERE ctid = ANY (ARRAY("
    "SELECT ctid FROM upload_requests WHERE expires_at >= coalesce($2::timestamptz, '-infinity') "
    "AND expires_at <= now() - $1::int8 * interval '1 microsecond' "
    "ORDER BY expires_at LIMIT 200 FOR UPDATE SKIP LOCKED)) "
    "RETURNING expires_at"};

const statement take_receipts{
    "sweep_receipts",
    "DELETE FROM upload_outcomes WHERE ctid = ANY (ARRAY("
    "SELECT ctid FROM upload_outcomes WHERE ended_at >= coalesce($2::timestamptz, '-infinity') "
    "AND ended_at <= now() - $1::int8 * interval '1 microsecond' "
    "ORDER BY ended_at LIMIT 1000 FOR UPDATE SKIP LOCKED)) "
    "RETURNING ended_at"};

const statement take_activity{
    "sweep_activity",
    "SELECT gone, reached FROM forget_activity($1::int8 * interval '1 microsecond', $2::uuid)"};

const statement record_cycle{"sweep_record",
                             "UPDATE sweeper_state SET last_started_at = now() - $1::int8 * interval '1 "
                             "microsecond', last_finished_at = now(), "
                             "last_acked = $2::int8, last_expired = $3::int8, last_error = $4::text"};

// PostgreSQL's timestamps end a few thousand years ago; nothing here is that old.
constexpr std::chrono::microseconds longest_retention = std::chrono::years(200);

std::chrono::microseconds clamped(std::chrono::microseconds retention)
{
    return std::clamp(retention, std::chrono::microseconds(0), longest_retention);
}

}  // namespace

awaitable<error_code> storage_sweep::take_batch(rows_to_go& rows)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    tx->queue(prepare_batch, none);
    const pq::parameters with(static_cast<std::int64_t>(rows.retention.count()), rows.after);
    tx->queue(rows.next_batch, with);
    fault_point("before_sweep_delete");
    auto results = co_await tx->commit();
    if (!results)
        co_return results.error();
    fault_point("row_deleted");
    const auto& taken = results->back();
    for (int i = 0; i < taken.size(); ++i) {
        const auto key = taken[i][rows.key].as<timestamp>();
        if (!key)
            co_return key.error();
        rows.after = std::max(rows.after.value_or(*key), *key);
    }
    rows.gone += taken.size();
    rows.done = taken.empty();
    if (const auto expired = read_upload_changes(taken); expired && rows.listener)
        tell_upload_changes(rows.listener, upload_state::expired, *expired);
    co_return error_code{};
}

// A backlog of one kind cannot keep the others waiting for a later cycle.
awaitable<error_code> storage_sweep::take_in_turns(std::span<rows_to_go> kinds, sweep_time time)
{
    for (bool go_on = true; go_on;) {
        const auto began = sweep_time::clock::now();
        bool done = true;
        for (auto& rows : kinds) {
            if (rows.done)
                continue;
            if (auto ec = co_await take_batch(rows))
                co_return ec;
            done = done && rows.done;
        }
        if (done)
            break;
        go_on = co_await time.rest_after(began);
    }
    co_return error_code{};
}

awaitable<sweep_outcome> storage_sweep::sweep(std::chrono::microseconds ack_retention, sweep_time time)
{
    rows_to_go files[] = {{.next_batch = take_acked, .retention = clamped(ack_retention)},
                          {.next_batch = take_expired, .key = upload_change_moment, .listener = listener_}};
    const auto failure = co_await take_in_turns(files, time);
    co_return sweep_outcome{.gone = {.acked = files[0].gone, .expired = files[1].gone},
                            .more = !files[0].done || !files[1].done,
                            .failure = failure};
}

awaitable<forget_outcome> storage_sweep::take_all(rows_to_go rows, sweep_time time)
{
    const std::span<rows_to_go> only(&rows, 1);
    const auto failure = co_await take_in_turns(only, time);
    co_return forget_outcome{.gone = rows.gone, .more = !rows.done, .failure = failure};
}

awaitable<forget_outcome> storage_sweep::forget_requests(sweep_time time)
{
    const rows_to_go requests{.next_batch = take_requests};
    co_return co_await take_all(requests, time);
}

awaitable<forget_outcome> storage_sweep::forget_receipts(std::chrono::microseconds retention, sweep_time time)
{
    const rows_to_go receipts{.next_batch = take_receipts, .retention = clamped(retention)};
    co_return co_await take_all(receipts, time);
}

awaitable<forget_outcome> storage_sweep::forget_activity(std::chrono::microseconds retention, sweep_time time)
{
    forget_outcome outcome{.more = true};
    for (bool go_on = true; go_on && outcome.more;) {
        const auto began = sweep_time::clock::now();
        const pq::parameters with(static_cast<std::int64_t>(clamped(retention).count()), activity_reached_);
        auto answer = co_await db_.execute(take_activity, with);
        if (!answer) {
            outcome.failure = answer.error();
            break;
        }
        auto taken = (*answer)[0].as<std::int64_t, std::optional<uuid>>();
        if (!taken) {
            outcome.failure = taken.error();
            break;
        }
        const auto& [gone, reached] = *taken;
        outcome.gone += gone;
        outcome.more = reached.has_value();
        activity_reached_ = reached.value_or(uuid{});
        if (outcome.more)
            go_on = co_await time.rest_after(began);
    }
    co_return outcome;
}

awaitable<error_code> storage_sweep::record(sweep_record cycle)
{
    std::optional<std::string> problem;
    if (cycle.failure)
        problem = cycle.failure.message();
    const pq::parameters with(static_cast<std::int64_t>(cycle.took.count()), cycle.gone.acked,
                              cycle.gone.expired, problem);
    auto done = co_await db_.execute(record_cycle, with);
    co_return done ? error_code{} : done.error();
}

}  // namespace restante
