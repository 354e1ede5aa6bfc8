// The operator's lists: right, in pages, and at a price that does not grow with what is stored.
#include "storage/waiting_list.hpp"

#include "server/series/series_recorder.hpp"
#include "storage/overview.hpp"
#include "test/support/database.hpp"
#include "test/support/pool.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

class operator_lists : public testing::Test {
protected:
    operator_lists() { test::apply_schema(db); }

    template <class Body>
    void with_list(Body body)
    {
        test::with_pool({.conninfo = db.conninfo()}, 2, [&](pq::connection_pool& pool) -> awaitable<void> {
            waiting_list list(pool);
            co_await body(pool, list);
        });
    }

    // Workspaces w1 … wn; wi has i files of 100 bytes, the first i hours old, and every third has none.
    void fill(int workspaces)
    {
        db.sql(
            "INSERT INTO workspaces (id, name, delivery_mode) SELECT ('00000000-0000-4000-8000-' || "
            "lpad(i::text, 12, '0'))::uuid, 'w' || lpad(i::text, 4, '0'), 'poll' FROM generate_series(1, " +
            std::to_string(workspaces) + ") i");
        db.sql(
            "INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, created_at, expires_at) "
            "SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, c, 100, 'f', sha256(c), "
            "now() - i * interval '1 minute', now() + interval '1 day' FROM generate_series(1, " +
            std::to_string(workspaces) +
            ") i, generate_series(1, least(i, 20)) n, (SELECT convert_to(repeat('x', 100), 'UTF8') AS c) b "
            "WHERE i % 3 <> 0");
    }

    // All pages of this size, one after the other: the names, and what waits.
    static awaitable<std::vector<waiting_workspace>> all(waiting_list& list, waiting_order order, int size)
    {
        std::vector<waiting_workspace> found;
        std::optional<waiting_place> after;
        for (;;) {
            const auto page = co_await list.page(order, after, size);
            EXPECT_TRUE(page) << page.error().message();
            if (!page)
                co_return found;
            found.insert(found.end(), page->begin(), page->end());
            if (static_cast<int>(page->size()) < size)
                co_return found;
            after = page->back().place(order);
        }
    }

    static std::string names(const std::vector<waiting_workspace>& list)
    {
        std::string out;
        for (const auto& each : list)
            out += each.name + ' ';
        return out;
    }

    test::scratch_database db;
};

TEST_F(operator_lists, every_order_has_every_workspace_once_in_pages_of_any_size)
{
    fill(7);
    db.sql("UPDATE workspaces SET removed_at = now() WHERE name = 'w0005'");
    with_list([&](auto&, waiting_list& list) -> awaitable<void> {
        const auto refreshed = co_await list.refresh();
        EXPECT_TRUE(refreshed) << refreshed.error().message();
        for (const int size : {1, 2, 3, 100}) {
            const auto oldest = co_await all(list, waiting_order::oldest, size);
            EXPECT_EQ(names(oldest), "w0007 w0004 w0002 w0001 w0003 w0006 ") << size;
            const auto bytes = co_await all(list, waiting_order::bytes, size);
            EXPECT_EQ(names(bytes), "w0007 w0004 w0002 w0001 w0003 w0006 ") << size;
            const auto name = co_await all(list, waiting_order::name, size);
            EXPECT_EQ(names(name), "w0001 w0002 w0003 w0004 w0006 w0007 ") << size;
        }
        const auto oldest = co_await all(list, waiting_order::oldest, 100);
        EXPECT_EQ(oldest[0].files, 7);
        EXPECT_EQ(oldest[0].bytes, 700);
        EXPECT_FALSE(oldest[0].estimated);
        EXPECT_EQ(oldest[4].files, 0);
        EXPECT_FALSE(oldest[4].oldest_at);
    });
}

TEST_F(operator_lists, follow_what_is_acked_and_what_expires)
{
    fill(2);
    with_list([&](auto&, waiting_list& list) -> awaitable<void> {
        (void)co_await list.refresh();
        db.sql(
            "UPDATE pending_uploads SET acked_at = now() WHERE created_at < now() - interval '90 seconds'");
        db.sql("UPDATE pending_uploads SET expires_at = now() - interval '1 second' WHERE acked_at IS NULL");
        db.sql("UPDATE waiting_list_walk SET finished_at = now() - interval '1 minute'");
        (void)co_await list.refresh();
        for (const auto& each : co_await all(list, waiting_order::oldest, 100))
            EXPECT_EQ(each.files, 0) << each.name;
        EXPECT_EQ(db.ask("SELECT count(*) FROM waiting_list"), "0");
    });
}

// The walk is done in steps; each goes on where the last one stopped.
TEST_F(operator_lists, a_step_is_bounded_and_the_next_one_goes_on)
{
    fill(12);
    db.sql("SELECT refresh_waiting_list(3, 50000)");
    EXPECT_EQ(db.ask("SELECT count(*) FROM waiting_list"), "3");
    EXPECT_EQ(db.ask("SELECT finished_at IS NULL FROM waiting_list_walk"), "t");
    db.sql("SELECT refresh_waiting_list(100, 10)");
    EXPECT_EQ(db.ask("SELECT count(*) FROM waiting_list"), "5") << "5 and 7 files are more than 10";
    db.sql("SELECT refresh_waiting_list(100, 50000)");
    EXPECT_EQ(db.ask("SELECT count(*) FROM waiting_list"), "8");
    EXPECT_EQ(db.ask("SELECT finished_at IS NOT NULL FROM waiting_list_walk"), "t");
}

// Rows that the database reads for it, told by PostgreSQL itself.
TEST_F(operator_lists, an_overview_reads_no_more_when_more_is_stored)
{
    const auto pages_read = [&] {
        return std::stol(
            db.ask("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE "
                   "relname IN ('pending_uploads', 'activity_logs', 'upload_outcomes')"));
    };
    fill(30);
    db.sql("CREATE TABLE schema_migrations (number int)");
    db.sql(
        "INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, acked_at, expires_at) SELECT "
        "gen_random_uuid(), c, 1, 'f', sha256(c), now(), now() + interval '1 day' FROM generate_series(1, 20000), "
        "(SELECT 'x'::bytea AS c) b; ANALYZE pending_uploads");
    db.sql("SELECT pg_stat_force_next_flush()");
    const auto before = pages_read();
    with_list([&](pq::connection_pool& pool, waiting_list& list) -> awaitable<void> {
        const auto report = co_await read_overview(pool);
        EXPECT_TRUE(report) << report.error().message();
        if (report) {
            EXPECT_EQ(report->waiting.files, 267);
            EXPECT_EQ(report->workspaces.poll, 30);
            EXPECT_FALSE(report->workspaces.at_least());
        }
        (void)co_await list.refresh();
        (void)co_await all(list, waiting_order::bytes, 10);
    });
    db.sql("SELECT pg_stat_force_next_flush()");
    EXPECT_LT(pages_read() - before, 5000) << "20,000 acked files are not looked at";
}

// Index entries and rows that PostgreSQL reads for a page near the end of a long list.
TEST_F(operator_lists, a_deep_page_reads_no_more_than_the_first)
{
    const std::string id = "('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid";
    db.sql("INSERT INTO workspaces (id, name, delivery_mode) SELECT " + id +
           ", 'w' || lpad(i::text, 4, '0'), 'poll' FROM generate_series(1, 6000) i");
    db.sql("INSERT INTO waiting_list SELECT " + id +
           ", 1, i / 10, now() - i / 10 * interval '1 minute', false FROM generate_series(1, 3000) i");
    db.sql("ANALYZE");
    const auto rows_read = [&] {
        return std::stol(db.ask(
            "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)"));
    };
    // One connection, which is asked to tell the statistics what it has read.
    test::with_pool({.conninfo = db.conninfo()}, 1, [&](pq::connection_pool& pool) -> awaitable<void> {
        waiting_list list(pool);
        const statement flush{"flush_statistics", "SELECT pg_stat_force_next_flush()"};
        for (const auto order : {waiting_order::oldest, waiting_order::bytes, waiting_order::name}) {
            const auto every = co_await all(list, order, 1000);
            EXPECT_EQ(every.size(), 6000u);
            for (const std::size_t begin : {100u, 2800u, 3100u, 5900u}) {
                const pq::parameters none{};
                (void)co_await pool.execute(flush, none);
                const auto before = rows_read();
                const auto page = co_await list.page(order, every.at(begin - 1).place(order), 20);
                EXPECT_TRUE(page && page->size() == 20 && page->front().id == every[begin].id);
                (void)co_await pool.execute(flush, none);
                EXPECT_LT(rows_read() - before, 600) << begin << " in order " << static_cast<int>(order);
            }
        }
    });
}

TEST_F(operator_lists, figures_of_several_servers_meet_and_old_ones_go)
{
    with_list([&](pq::connection_pool& pool, auto&) -> awaitable<void> {
        figures_store store(pool);
        recent_series recent;
        const auto metrics = std::make_shared<metric_set>();
        auto& requests = metrics->counter("molecule_http_requests_total", "", {{"status", "200"}});
        const auto collect = [&]() -> awaitable<result<std::shared_ptr<const metric_set>>> {
            co_return std::shared_ptr<const metric_set>(metrics);
        };
        series_recorder one(collect, store, recent), two(collect, store, recent);
        const auto slot = slot_of(timestamp(1'800'000'000s));
        requests.add(5);
        co_await one.record(slot - 4h);
        requests.add(2);
        co_await one.record(slot);
        co_await two.record(slot);
        const auto rows = co_await store.read(slot - 24h);
        EXPECT_TRUE(rows) << rows.error().message();
        if (!rows)
            co_return;
        EXPECT_EQ(rows->size(), 2u) << "the one of four hours ago is gone";
        std::vector<std::int64_t> seen;
        for (const auto& row : *rows)
            seen.push_back(to_point(row)[figure::requests]);
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 7}));
        EXPECT_EQ(recent.since(slot).size(), 2u);
    });
}

}  // namespace
}  // namespace restante
