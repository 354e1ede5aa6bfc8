#include "sweeper/sweeper.hpp"

#include "sweeper/gauges.hpp"
#include "test/support/database.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/rows.hpp"
#include "test/support/run.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::stage_rows;
using ::testing::HasSubstr;

const retention_policy hourly{.acked = 1h, .activity = 90 * 24h, .interval = 1h};
const retention_policy often{.acked = 1h, .activity = 90 * 24h, .interval = 60ms};

// The loop around the storage call: what it metrics, logs and survives.
class sweeping : public ::testing::Test {
protected:
    // One process: its connections, metrics and tasks.
    struct process {
        process(executor ex, const test::scratch_database& db, retention_policy policy)
            : pool(ex, {.connect = db.options(), .connections = 2}), tasks(ex), sweep(pool, metrics, policy)
        {
            tasks.spawn("pool", pool.run());
        }

        double swept(std::string_view outcome)
        {
            return metrics.counter("molecule_pending_uploads_swept_total", "", {{"outcome", outcome}}).value;
        }

        awaitable<void> stop()
        {
            pool.stop();
            const bool quiet = co_await tasks.shutdown(1s);
            EXPECT_TRUE(quiet);
        }

        metric_set metrics;
        pq::connection_pool pool;
        task_group tasks;
        sweeper sweep;
    };

    sweeping() { test::apply_schema(db); }

    template <class Body>
    void with_process(retention_policy policy, Body body)
    {
        test::run([&]() -> awaitable<void> {
            process p(co_await asio::this_coro::executor, db, policy);
            co_await body(p);
            co_await p.stop();
        });
    }

    // Polls for at most ten seconds.
    template <class Condition>
    static awaitable<bool> comes_true(Condition condition)
    {
        steady_timer pause(co_await asio::this_coro::executor);
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (!condition() && std::chrono::steady_clock::now() < end) {
            pause.expires_after(10ms);
            co_await pause.async_wait(use_tuple);
        }
        co_return condition();
    }

    std::string left() { return db.ask("SELECT count(*) FROM pending_uploads"); }

    int logged(const std::string& event)
    {
        const auto lines = log.lines();
        return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find("\"event\":\"" + event + "\"") != std::string::npos;
        }));
    }

    test::scratch_database db;
    log_capture log;
};

TEST_F(sweeping, a_cycle_counts_logs_and_records_what_it_took)
{
    stage_rows(db, {.count = 3, .acked_at = "now() - interval '2 hours'"});
    stage_rows(db, {.count = 2, .expires_at = "now() - interval '1 ms'"});
    with_process(hourly, [&](process& p) -> awaitable<void> {
        const auto report = co_await p.sweep.sweep_once(p.tasks);
        EXPECT_FALSE(report.failure);
        EXPECT_EQ(p.swept("acked"), 3);
        EXPECT_EQ(p.swept("expired"), 2);
        EXPECT_EQ(p.swept("error"), 0);
        EXPECT_EQ(logged("sweep_done"), 1);
        EXPECT_THAT(log.lines().back(), HasSubstr("\"acked\":3,\"expired\":2"));
        EXPECT_EQ(db.ask("SELECT last_acked || ' ' || last_expired || ' ' || (last_error IS NULL) || ' ' || "
                         "(last_finished_at >= last_started_at) FROM sweeper_state"),
                  "3 2 true true");

        co_await p.sweep.sweep_once(p.tasks);
        EXPECT_EQ(logged("sweep_done"), 1) << "a cycle that did nothing was logged";
    });
}

TEST_F(sweeping, starts_with_a_cycle_and_goes_on)
{
    stage_rows(db, {.count = 1, .expires_at = "now() - interval '1 ms'"});
    with_process(often, [&](process& p) -> awaitable<void> {
        p.tasks.spawn("sweeper", p.sweep.run(p.tasks));
        const auto first = [&] { return p.swept("expired") == 1; };
        EXPECT_TRUE(co_await comes_true(first));
        stage_rows(db, {.count = 4, .acked_at = "now() - interval '2 hours'"});
        const auto second = [&] { return p.swept("acked") == 4; };
        EXPECT_TRUE(co_await comes_true(second));
    });
}

TEST_F(sweeping, a_backlog_is_not_left_for_the_next_tick)
{
    stage_rows(db, {.count = 900, .acked_at = "now() - interval '2 hours'"});
    with_process(hourly, [&](process& p) -> awaitable<void> {
        const cycle_shares one_batch{.files = 0ms, .requests = 0ms, .activity = 0ms};
        sweeper hasty(p.pool, p.metrics, hourly, one_batch);
        p.tasks.spawn("sweeper", hasty.run(p.tasks));
        const auto gone = [&] { return p.swept("acked") == 900; };
        EXPECT_TRUE(co_await comes_true(gone));
        EXPECT_EQ(logged("sweep_done"), 5);
        co_await p.stop();
    });
}

TEST_F(sweeping, an_error_is_counted_and_logged_and_the_next_cycle_tries_again)
{
    stage_rows(db, {.count = 2, .expires_at = "now() - interval '1 ms'"});
    db.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;"
        "CREATE TRIGGER refuse BEFORE DELETE ON pending_uploads EXECUTE FUNCTION refuse()");
    with_process(often, [&](process& p) -> awaitable<void> {
        p.tasks.spawn("sweeper", p.sweep.run(p.tasks));
        const auto failed_twice = [&] { return p.swept("error") >= 2; };
        EXPECT_TRUE(co_await comes_true(failed_twice));
        EXPECT_GE(logged("sweep_failed"), 2);
        EXPECT_EQ(db.ask("SELECT last_error IS NOT NULL FROM sweeper_state"), "t");

        db.sql("DROP TRIGGER refuse ON pending_uploads");
        const auto recovered = [&] { return p.swept("expired") == 2; };
        EXPECT_TRUE(co_await comes_true(recovered));
    });
}

TEST_F(sweeping, goes_on_when_the_database_ends_its_sessions)
{
    with_process(often, [&](process& p) -> awaitable<void> {
        p.tasks.spawn("sweeper", p.sweep.run(p.tasks));
        const auto swept = [&] {
            return db.ask("SELECT last_finished_at IS NOT NULL FROM sweeper_state") == "t";
        };
        EXPECT_TRUE(co_await comes_true(swept));
        for (int round = 0; round < 5; ++round)
            db.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                "AND "
                "pid <> pg_backend_pid() AND backend_type = 'client backend'");
        stage_rows(db, {.count = 3, .acked_at = "now() - interval '2 hours'"});
        const auto recovered = [&] { return left() == "0"; };
        EXPECT_TRUE(co_await comes_true(recovered));
    });
}

TEST_F(sweeping, without_the_table_it_says_so_once_counts_no_error_and_begins_when_it_is_there)
{
    db.sql("ALTER TABLE pending_uploads RENAME TO elsewhere");
    with_process(often, [&](process& p) -> awaitable<void> {
        for (int i = 0; i < 3; ++i)
            co_await p.sweep.sweep_once(p.tasks);
        EXPECT_EQ(logged("sweeper_disabled"), 1);
        EXPECT_EQ(logged("sweep_failed"), 0);
        EXPECT_EQ(p.swept("error"), 0);

        db.sql("ALTER TABLE elsewhere RENAME TO pending_uploads");
        stage_rows(db, {.count = 1, .expires_at = "now() - interval '1 ms'"});
        const auto report = co_await p.sweep.sweep_once(p.tasks);
        EXPECT_EQ(report.files.expired, 1);
        EXPECT_EQ(logged("sweeper_enabled"), 1);
    });
}

TEST_F(sweeping, two_sweepers_at_once_share_the_work)
{
    stage_rows(db, {.count = 6000, .acked_at = "now() - interval '2 hours' - i * interval '1 ms'"});
    stage_rows(db, {.count = 6000, .expires_at = "now() - i * interval '1 ms'"});
    with_process(hourly, [&](process& a) -> awaitable<void> {
        process b(co_await asio::this_coro::executor, db, hourly);
        int done = 0;
        const auto sweep_until_empty = [&](process& p) -> awaitable<void> {
            const auto report = co_await p.sweep.sweep_once(p.tasks);
            EXPECT_FALSE(report.failure) << report.failure.message();
            ++done;
        };
        a.tasks.spawn("a", sweep_until_empty(a));
        b.tasks.spawn("b", sweep_until_empty(b));
        const auto both = [&] { return done == 2; };
        EXPECT_TRUE(co_await comes_true(both));
        EXPECT_EQ(a.swept("acked") + b.swept("acked"), 6000);
        EXPECT_EQ(a.swept("expired") + b.swept("expired"), 6000);
        for (process* p : {&a, &b})
            EXPECT_GT(p->swept("acked") + p->swept("expired"), 0) << "each took part";
        EXPECT_EQ(left(), "0");
        EXPECT_EQ(db.ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), "0");
        co_await b.stop();
    });
}

TEST_F(sweeping, a_stop_ends_it_between_two_batches_and_between_two_cycles)
{
    stage_rows(db, {.count = 20'000, .acked_at = "now() - interval '2 hours' - i * interval '1 ms'"});
    with_process(hourly, [&](process& p) -> awaitable<void> {
        task_group tasks(co_await asio::this_coro::executor);
        tasks.spawn("sweeper", p.sweep.run(tasks));
        const auto under_way = [&] { return std::stoi(left()) < 20'000; };
        EXPECT_TRUE(co_await comes_true(under_way));
        const auto asked = std::chrono::steady_clock::now();
        const bool quiet = co_await tasks.shutdown(2s);
        EXPECT_TRUE(quiet);
        EXPECT_LT(std::chrono::steady_clock::now() - asked, 2s) << "it had to be cancelled";
        EXPECT_GT(std::stoi(left()), 0);

        task_group later(co_await asio::this_coro::executor);
        stage_rows(db, {.count = 1, .expires_at = "now() - interval '1 ms'"});
        later.spawn("sweeper", p.sweep.run(later));
        const auto swept = [&] { return logged("sweep_done") == 2; };
        EXPECT_TRUE(co_await comes_true(swept));
        EXPECT_TRUE(co_await later.shutdown(2s));  // it is sleeping for an hour
        EXPECT_EQ(p.swept("error"), 0);
    });
}

TEST_F(sweeping, a_batch_that_hangs_is_cancelled_by_the_shutdown)
{
    stage_rows(db, {.count = 1, .expires_at = "now() - interval '1 ms'"});
    db.sql(
        "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(20); RETURN "
        "OLD; END $$;"
        "CREATE TRIGGER hang BEFORE DELETE ON pending_uploads FOR EACH ROW EXECUTE FUNCTION hang()");
    with_process(hourly, [&](process& p) -> awaitable<void> {
        task_group tasks(co_await asio::this_coro::executor);
        tasks.spawn("sweeper", p.sweep.run(tasks));
        const auto hangs = [&] {
            return db.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1";
        };
        EXPECT_TRUE(co_await comes_true(hangs));
        EXPECT_TRUE(co_await tasks.shutdown(100ms, 2s));
    });
    EXPECT_EQ(left(), "1");
}

TEST_F(sweeping, gauges_tell_what_waits)
{
    stage_rows(db, {.count = 3, .bytes = 1000});
    stage_rows(db,
               {.count = 2, .expires_at = "now() + interval '1 hour'", .fetched_at = "now()", .bytes = 50});
    stage_rows(db, {.count = 9, .acked_at = "now()"});
    db.sql(
        "UPDATE pending_uploads SET created_at = now() - interval '23 hours' WHERE fetched_at IS NOT NULL");
    with_process(hourly, [&](process& p) -> awaitable<void> {
        upload_gauges gauges(p.pool, p.metrics);
        const auto ec = co_await gauges.refresh();
        EXPECT_FALSE(ec) << ec.message();
        const auto text = p.metrics.to_prometheus();
        EXPECT_THAT(text, HasSubstr("molecule_pending_uploads_unacked_files 5\n"));
        EXPECT_THAT(text, HasSubstr("molecule_pending_uploads_unacked_bytes 3100\n"));
        EXPECT_THAT(text, HasSubstr("molecule_pending_uploads_never_fetched_files 3\n"));
        EXPECT_THAT(text, HasSubstr("molecule_pending_uploads_fetched_unacked_files 2\n"));
        EXPECT_THAT(text, HasSubstr("molecule_pending_uploads_estimated 0\n"));
        EXPECT_NEAR(p.metrics.gauge("molecule_pending_uploads_oldest_unacked_seconds", "").value, 23 * 3600,
                    60);
    });
}

TEST_F(sweeping, gauges_of_a_large_table_are_estimated_and_near_the_truth)
{
    stage_rows(db, {.count = 40'000, .fetched_at = "CASE WHEN i % 4 = 0 THEN now() END", .bytes = 600});
    with_process(hourly, [&](process& p) -> awaitable<void> {
        const auto figures = co_await read_unacked_uploads(p.pool);
        EXPECT_TRUE(figures.has_value());
        EXPECT_TRUE(figures->estimated);
        EXPECT_NEAR(static_cast<double>(figures->files), 40'000, 10'000);
        EXPECT_NEAR(static_cast<double>(figures->bytes), 24e6, 6e6);
        EXPECT_NEAR(static_cast<double>(figures->never_fetched), 30'000, 8'000);
        EXPECT_LE(figures->never_fetched, figures->files);
    });
}

}  // namespace
}  // namespace restante
