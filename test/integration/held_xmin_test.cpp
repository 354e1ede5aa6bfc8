#include "storage/held_xmin.hpp"

#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace restante
