#include "storage/held_xmin.hpp"

#include "storage/activity_feed.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

#include <map>

namespace restante {
namespace {

using test::scratch_database;

constexpr int begun_meanwhile = 20;

class held_xmin : public ::testing::Test {
protected:
    // What is reported of `ours` once a session of `holder` has said this and others have gone on.
    std::int64_t held_after(const scratch_database& holder, const std::string& script)
    {
        std::int64_t held = 0;
        test::run([&]() -> awaitable<void> {
            auto session = co_await pq::connection::open(holder.options());
            EXPECT_TRUE((co_await (*session)->execute_script(script)).has_value());
            for (int i = 0; i < begun_meanwhile; ++i)
                ours.sql("SELECT pg_current_xact_id()");
            pq::connection_pool pool(co_await asio::this_coro::executor, {.connect = ours.options()});
            const auto ask = [&]() -> awaitable<void> {
                const auto found = co_await read_held_transactions(pool);
                EXPECT_TRUE(found.has_value());
                held = found ? *found : -1;
            };
            co_await test::with_running(pool, ask);
        });
        return held;
    }

    scratch_database ours;
};

TEST_F(held_xmin, a_forgotten_snapshot_holds)
{
    EXPECT_GE(held_after(ours, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"), begun_meanwhile);
}

// It is idle between two statements, under READ COMMITTED: it has no snapshot.
TEST_F(held_xmin, a_forgotten_transaction_that_has_written_holds)
{
    EXPECT_GE(held_after(ours, "BEGIN; SELECT pg_current_xact_id()"), begun_meanwhile);
}

TEST_F(held_xmin, a_session_of_another_database_holds_nothing_of_ours)
{
    const scratch_database theirs;
    EXPECT_LT(held_after(theirs, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()"),
              begun_meanwhile);
}

// Pages of activity_heads and its index that PostgreSQL looks at for what `call` does.
class head_versions : public ::testing::Test {
protected:
    head_versions() { test::apply_schema(db); }

    std::string publish(const std::string& workspaces)
    {
        return "SELECT count(*) FROM publish_counted(NULL, NULL, 0, 0, ARRAY[" + workspaces +
               "]::uuid[], ARRAY(SELECT gen_random_uuid() FROM unnest(ARRAY[" + workspaces +
               "])), ARRAY(SELECT 'error' FROM unnest(ARRAY[" + workspaces +
               "])), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";
    }

    void publish_often(const std::string& workspaces, int times)
    {
        db.sql(
            "CREATE OR REPLACE PROCEDURE publish_often() LANGUAGE plpgsql AS $$ BEGIN "
            "SET synchronous_commit = off; FOR i IN 1.." +
            std::to_string(times) + " LOOP PERFORM * FROM (" + publish(workspaces) +
            ") AS done; COMMIT; END LOOP; END $$");
        db.sql("CALL publish_often()");
    }

    std::int64_t pages_for(const std::string& statement)
    {
        const std::string looked =
            "(SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read "
            "FROM pg_statio_user_tables WHERE relname = 'activity_heads')";
        db.sql("SELECT pg_stat_force_next_flush()");
        const auto before = std::stoll(db.ask(looked));
        db.ask(statement);
        db.sql("SELECT pg_stat_force_next_flush()");
        return std::stoll(db.ask(looked)) - before;
    }

    static constexpr auto one = "'00000000-0000-4000-8000-000000000001'";
    static constexpr auto several =
        "'00000000-0000-4000-8000-000000000003','00000000-0000-4000-8000-000000000001',"
        "'00000000-0000-4000-8000-000000000002'";
    test::scratch_database db;
};

// Forwards, it would look at all of them: some 300 pages for these 10,000.
TEST_F(head_versions, of_a_held_snapshot_are_not_walked_through)
{
    publish_often(several, 10);
    test::run([&]() -> awaitable<void> {
        auto reader = co_await pq::connection::open(db.options());
        EXPECT_TRUE((co_await (*reader)->execute_script(
                         "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM activity_heads"))
                        .has_value());
        const auto before = pages_for(publish(one));
        publish_often(one, 10'000);
        EXPECT_LE(pages_for(publish(one)), before + 20);
        EXPECT_EQ(db.ask("SELECT seq FROM activity_heads WHERE workspace_id = " + std::string(one)), "10012");

        pq::connection_pool pool(co_await asio::this_coro::executor, {.connect = db.options()});
        const auto ask = [&]() -> awaitable<void> {
            activity_feed feed(pool);
            const std::vector<uuid> workspaces{*parse_uuid("00000000-0000-4000-8000-000000000001"),
                                               *parse_uuid("00000000-0000-4000-8000-000000000002"),
                                               *parse_uuid("00000000-0000-4000-8000-00000000000f")};
            const auto heads = co_await feed.heads(workspaces);
            EXPECT_TRUE(heads.has_value());
            std::map<uuid, std::int64_t> numbers;
            for (const auto& head : *heads)
                numbers[head.workspace] = head.seq;
            EXPECT_EQ(numbers.size(), 2u);
            EXPECT_EQ(numbers[workspaces[0]], 10'012);
            EXPECT_EQ(numbers[workspaces[1]], 10);
        };
        co_await test::with_running(pool, ask);
    });
}

}  // namespace
}  // namespace restante
