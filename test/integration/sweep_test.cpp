#include "storage/sweep.hpp"

#include "test/support/database.hpp"
#include "test/support/rows.hpp"
#include "test/support/run.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::stage_rows;

// The storage call on real PostgreSQL: which rows it deletes, how many, and what prevents it.
class sweep_calls : public ::testing::Test {
protected:
    sweep_calls() { test::apply_schema(db); }

    template <class Body>
    void with_sweep(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            pq::connection_pool pool(ex, {.connect = db.options(), .connections = 2});
            task_group tasks(ex);
            storage_sweep storage(pool);
            co_await body(storage, tasks);
        });
    }

    sweep_outcome sweep(std::chrono::microseconds ack_retention, std::chrono::milliseconds limit = 30s)
    {
        sweep_outcome outcome;
        with_sweep([&](storage_sweep& storage, task_group& tasks) -> awaitable<void> {
            const sweep_time time(tasks, limit);
            outcome = co_await storage.sweep(ack_retention, time);
        });
        return outcome;
    }

    forget_outcome forget_activity(std::chrono::microseconds retention)
    {
        forget_outcome outcome;
        with_sweep([&](storage_sweep& storage, task_group& tasks) -> awaitable<void> {
            const sweep_time time(tasks, 30s);
            outcome = co_await storage.forget_activity(retention, time);
        });
        return outcome;
    }

    std::string left() { return db.ask("SELECT count(*) FROM pending_uploads"); }

    // A feed of n rows, row i being i days old counted from the newest, which is from today.
    void write_feed(const std::string& id, int n)
    {
        const auto rows = std::to_string(n);
        db.sql("INSERT INTO activity_heads VALUES ('" + id + "', " + rows + ", now());" +
               "INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at) SELECT "
               "gen_random_uuid(), '" +
               id + "', i, 'agent_log', now() - (" + rows +
               " - i) * interval '1 day' - interval '1 minute' FROM generate_series(1, " + rows + ") AS i");
    }

    std::string oldest(const std::string& id)
    {
        return db.ask("SELECT min(seq) FROM activity_logs WHERE workspace_id = '" + id + "'");
    }

    test::scratch_database db;
    const std::string workspace = to_string(make_uuid_v4());
};

TEST_F(sweep_calls, the_default_retention_takes_what_was_acked_over_an_hour_ago)
{
    stage_rows(db, {.count = 3, .acked_at = "now() - interval '61 minutes'"});
    stage_rows(db, {.count = 5, .acked_at = "now() - interval '59 minutes'"});
    stage_rows(db, {.count = 2, .expires_at = "now() - interval '1 second'"});
    stage_rows(db, {.count = 4});
    const auto outcome = sweep(1h);
    EXPECT_FALSE(outcome.failure);
    EXPECT_EQ(outcome.gone.acked, 3);
    EXPECT_EQ(outcome.gone.expired, 2);
    EXPECT_EQ(left(), "9");
}

TEST_F(sweep_calls, no_retention_takes_every_acked_file_and_a_negative_one_does_the_same)
{
    stage_rows(db, {.count = 3, .acked_at = "now()"});
    stage_rows(db, {.count = 2});
    EXPECT_EQ(sweep(0s).gone.acked, 3);
    stage_rows(db, {.count = 4, .acked_at = "now()"});
    stage_rows(db, {.count = 1, .acked_at = "now() + interval '1 hour'"});  // then the clock was set back
    EXPECT_EQ(sweep(-24h).gone.acked, 4);
    EXPECT_EQ(left(), "3");
}

TEST_F(sweep_calls, a_retention_beyond_all_measure_takes_nothing_and_is_no_error)
{
    stage_rows(db, {.count = 3, .acked_at = "now() - interval '100 years'"});
    const auto outcome = sweep(std::chrono::microseconds::max());
    EXPECT_FALSE(outcome.failure);
    EXPECT_EQ(outcome.gone.acked, 0);
    EXPECT_EQ(left(), "3");
}

TEST_F(sweep_calls, an_acked_file_is_kept_for_its_retention_even_past_its_expiry)
{
    stage_rows(db, {.count = 2, .acked_at = "now()", .expires_at = "now() - interval '1 hour'"});
    const auto outcome = sweep(1h);
    EXPECT_EQ(outcome.gone.acked + outcome.gone.expired, 0);
    EXPECT_EQ(left(), "2");
}

TEST_F(sweep_calls, a_backlog_of_many_batches_goes_in_one_call)
{
    // Many rows with the same timestamp, as a bulk ack leaves them, and many with different ones.
    stage_rows(db, {.count = 1700, .acked_at = "now() - interval '2 hours'"});
    stage_rows(db, {.count = 1300, .acked_at = "now() - interval '3 hours' - i * interval '1 ms'"});
    stage_rows(db, {.count = 1100, .expires_at = "now() - i * interval '1 ms'"});
    const auto outcome = sweep(1h);
    EXPECT_FALSE(outcome.failure);
    EXPECT_FALSE(outcome.more);
    EXPECT_EQ(outcome.gone.acked, 3000);
    EXPECT_EQ(outcome.gone.expired, 1100);
    EXPECT_EQ(left(), "0");
}

TEST_F(sweep_calls, both_kinds_shrink_in_a_cycle_too_short_for_either)
{
    stage_rows(db, {.count = 2000, .acked_at = "now() - interval '2 hours'"});
    stage_rows(db, {.count = 2000, .expires_at = "now() - interval '1 ms'"});
    const auto outcome = sweep(1h, 0ms);
    EXPECT_FALSE(outcome.failure);
    EXPECT_TRUE(outcome.more);
    EXPECT_EQ(outcome.gone.acked, 200);
    EXPECT_EQ(outcome.gone.expired, 200);
}

TEST_F(sweep_calls, a_batch_ends_with_the_file_that_crosses_one_MiB)
{
    stage_rows(db, {.count = 10, .acked_at = "now() - i * interval '1 s'", .bytes = 300 << 10});
    const auto first = sweep(0s, 0ms);
    EXPECT_FALSE(first.failure);
    EXPECT_EQ(first.gone.acked, 4);  // the fourth starts at 900 KiB
    EXPECT_EQ(sweep(0s).gone.acked, 6);

    stage_rows(db, {.count = 2, .acked_at = "now() - i * interval '1 s'", .bytes = 20 << 20});
    EXPECT_EQ(sweep(0s, 0ms).gone.acked, 1);
}

TEST_F(sweep_calls, rows_that_somebody_holds_are_passed_over)
{
    stage_rows(db, {.count = 10, .expires_at = "now() - i * interval '1 hour'"});
    with_sweep([&](storage_sweep& storage, task_group& tasks) -> awaitable<void> {
        auto holder = co_await pq::connection::open(db.options());
        co_await (*holder)->execute_script(
            "BEGIN; SELECT FROM pending_uploads ORDER BY expires_at LIMIT 4 FOR UPDATE");
        const sweep_time time(tasks, 30s);
        auto outcome = co_await storage.sweep(1h, time);
        EXPECT_FALSE(outcome.failure);
        EXPECT_EQ(outcome.gone.expired, 6);
        co_await (*holder)->execute_script("ROLLBACK");
        outcome = co_await storage.sweep(1h, time);
        EXPECT_EQ(outcome.gone.expired, 4);
    });
}

TEST_F(sweep_calls, without_its_table_it_says_so)
{
    db.sql("DROP TABLE pending_uploads");
    EXPECT_EQ(sweep(1h).failure, errc::schema_missing);
}

TEST_F(sweep_calls, a_batch_walks_the_index_even_when_statistics_know_of_no_backlog)
{
    stage_rows(db, {.count = 20});
    db.sql("ANALYZE pending_uploads");
    stage_rows(db, {.count = 5000, .acked_at = "now() - interval '2 hours' - i * interval '1 ms'"});
    EXPECT_EQ(sweep(1h).gone.acked, 5000);
    // Batches that each start at the oldest row again would read 65,000 entries of this index. A session
    // reports its statistics when it ends.
    const auto entries_read = [&] {
        return std::stoi(
            db.ask("SELECT idx_tup_read FROM pg_stat_user_indexes "
                   "WHERE indexrelname = 'pending_uploads_acked'"));
    };
    for (const auto end = std::chrono::steady_clock::now() + 10s;
         entries_read() < 5000 && std::chrono::steady_clock::now() < end;)
        std::this_thread::sleep_for(20ms);
    EXPECT_GE(entries_read(), 5000);
    EXPECT_LT(entries_read(), 10'000);
}

TEST_F(sweep_calls, old_keys_go_and_young_ones_stay)
{
    db.sql(
        "INSERT INTO upload_requests (workspace_id, key, outcome, expires_at) SELECT gen_random_uuid(), 'k', "
        "'stored', now() + (i - 1200) * interval '1 minute' - interval '1 second' FROM generate_series(1, "
        "1500) AS i");
    with_sweep([&](storage_sweep& storage, task_group& tasks) -> awaitable<void> {
        const sweep_time time(tasks, 30s);
        const auto outcome = co_await storage.forget_requests(time);
        EXPECT_FALSE(outcome.failure);
        EXPECT_EQ(outcome.gone, 1200);
    });
    EXPECT_EQ(db.ask("SELECT count(*) FROM upload_requests"), "300");
}

TEST_F(sweep_calls, activity_past_its_retention_goes)
{
    write_feed(workspace, 100);
    EXPECT_EQ(forget_activity(30 * 24h).gone, 70);
    EXPECT_EQ(oldest(workspace), "71");
    EXPECT_EQ(forget_activity(30 * 24h).gone, 0);
}

TEST_F(sweep_calls, activity_that_a_cursor_has_not_passed_stays_until_it_is_twice_as_old)
{
    write_feed(workspace, 100);
    db.sql("INSERT INTO inbox_cursors VALUES ('" + workspace + "', 50)");
    EXPECT_EQ(forget_activity(30 * 24h).gone, 50);  // the cursor protects 51 to 70
    EXPECT_EQ(oldest(workspace), "51");

    db.sql("UPDATE inbox_cursors SET last_acked_seq = 0");
    EXPECT_EQ(forget_activity(15 * 24h).gone, 20);  // 51 to 70 are more than 30 days old
    EXPECT_EQ(oldest(workspace), "71");

    db.sql("UPDATE inbox_cursors SET last_acked_seq = 100");
    EXPECT_EQ(forget_activity(15 * 24h).gone, 15);
    EXPECT_EQ(oldest(workspace), "86");
}

TEST_F(sweep_calls, the_newest_activity_always_stays)
{
    write_feed(workspace, 10);
    db.sql("UPDATE activity_logs SET created_at = now() - interval '10 years'");
    EXPECT_EQ(forget_activity(24h).gone, 9);
    EXPECT_EQ(oldest(workspace), "10");
}

TEST_F(sweep_calls, activity_of_more_workspaces_than_one_call_looks_at_and_more_rows_than_it_takes)
{
    for (int i = 0; i < 3; ++i)
        write_feed(to_string(make_uuid_v4()), 4000);
    db.sql("INSERT INTO activity_heads SELECT gen_random_uuid(), 1, now() FROM generate_series(1, 1200)");
    EXPECT_EQ(forget_activity(24h).gone, 3 * 3999);
    EXPECT_EQ(db.ask("SELECT count(*) FROM activity_logs"), "3");
}

}  // namespace
}  // namespace restante
