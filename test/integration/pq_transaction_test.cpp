#include "core/deadline.hpp"
#include "storage/pq/transaction.hpp"
#include "test/support/database.hpp"
#include "test/support/heap.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <thread>

namespace restante::pq {
namespace {

using test::scratch_database;
using namespace std::chrono_literals;

const statement insert{"insert", "INSERT INTO t VALUES ($1::int4)"};
const statement take{"take", "SELECT $1::int4"};

// A pool whose run() is active for the duration of one coroutine.
class pq_pool : public ::testing::Test {
protected:
    template <class Body>
    void with_pool(unsigned connections, Body body, std::chrono::milliseconds wait_limit = 2s)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            connection_pool pool(
                ex, {.connect = db.options(), .connections = connections, .wait_limit = wait_limit});
            const auto work = [&] { return body(pool); };
            co_await test::with_running(pool, work);
        });
    }

    // Waits until a query returns the expected value, at most five seconds.
    awaitable<bool> eventually(std::string query, std::string expected)
    {
        steady_timer tick(co_await asio::this_coro::executor);
        for (int i = 0; i < 100; ++i) {
            if (db.ask(query) == expected)
                co_return true;
            tick.expires_after(50ms);
            co_await tick.async_wait(use_await);
        }
        co_return false;
    }

    scratch_database db;
};

TEST_F(pq_pool, commit_stores_and_runs_the_hooks_once_in_order)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(2, [&](connection_pool& pool) -> awaitable<void> {
        std::string heard;
        auto tx = co_await pool.begin();
        const parameters one(std::int32_t{1});
        tx->queue(insert, one);
        tx->after_commit([&](auto) { heard += "a"; });
        tx->after_commit([&](auto) { heard += "b"; });
        EXPECT_EQ(heard, "");
        auto done = co_await tx->commit();
        EXPECT_EQ(done.value().size(), 1u);
        EXPECT_EQ(heard, "ab");
        EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "1");
    });
}

TEST_F(pq_pool, an_uncommitted_transaction_is_rolled_back_and_its_hooks_never_run)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        bool heard = false;
        {
            auto tx = co_await pool.begin();
            const parameters one(std::int32_t{1});
            auto done = co_await tx->execute(insert, one);
            EXPECT_TRUE(done.has_value());
            tx->after_commit([&](auto) { heard = true; });
        }
        // There is only one connection, so this can only work after the rollback.
        const parameters one(std::int32_t{1});
        auto again = co_await pool.execute(insert, one);
        EXPECT_TRUE(again.has_value());
        EXPECT_FALSE(heard);
        EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "1");
    });
}

TEST_F(pq_pool, a_queued_transaction_that_is_dropped_does_not_poison_the_pool)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        {
            auto tx = co_await pool.begin();
            const parameters one(std::int32_t{1});
            tx->queue(insert, one);
        }
        const parameters two(std::int32_t{2});
        EXPECT_TRUE((co_await pool.execute(insert, two)).has_value());
        EXPECT_EQ(db.ask("SELECT string_agg(k::text, ',') FROM t"), "2");
    });
}

TEST_F(pq_pool, a_failed_statement_names_itself_and_nothing_is_stored)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        bool heard = false;
        {
            auto tx = co_await pool.begin();
            tx->after_commit([&](auto) { heard = true; });
            const parameters one(std::int32_t{1}), two(std::int32_t{2});
            tx->queue(insert, one);
            tx->queue(insert, two);
            tx->queue(insert, two);
            auto done = co_await tx->commit();
            EXPECT_EQ(done.error(), errc::unique_violation);
            EXPECT_EQ(tx->failed_at(), 2u);
        }
        EXPECT_FALSE(heard);
        const parameters nine(std::int32_t{9});
        EXPECT_TRUE((co_await pool.execute(take, nine)).has_value()) << "the connection is usable again";
        EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "0");
    });
}

TEST_F(pq_pool, commit_of_a_transaction_that_had_failed_is_not_a_success)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        bool heard = false;
        auto tx = co_await pool.begin();
        tx->after_commit([&](auto) { heard = true; });
        const parameters one(std::int32_t{1});
        co_await tx->execute(insert, one);
        co_await tx->execute(insert, one);
        auto done = co_await tx->commit();
        EXPECT_EQ(done.error(), errc::transaction_aborted);
        EXPECT_FALSE(heard);
    });
}

TEST_F(pq_pool, a_backend_terminated_in_every_state_costs_one_error_at_most)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    with_pool(2, [&](connection_pool& pool) -> awaitable<void> {
        const auto end_backend = [&](int pid) {
            db.sql("SELECT pg_terminate_backend(" + std::to_string(pid) + ", 5000)");
        };
        const parameters one(std::int32_t{1});
        {
            auto idle = co_await pool.acquire();
            const int pid = (*idle)->backend_pid();
            {
                auto back = std::move(*idle);
            }
            end_backend(pid);
        }
        EXPECT_TRUE((co_await pool.execute(take, one)).has_value()) << "an idle one is replaced unseen";
        {
            auto tx = co_await pool.begin();
            co_await tx->execute(take, one);
            end_backend(tx->session().backend_pid());
            EXPECT_EQ((co_await tx->execute(take, one)).error(), errc::database_unavailable);
        }
        {
            auto tx = co_await pool.begin();
            co_await tx->execute(insert, one);
            end_backend(tx->session().backend_pid());
            EXPECT_EQ((co_await tx->commit()).error(), errc::commit_outcome_unknown);
        }
        {
            auto tx = co_await pool.begin(lane::large);
            auto copy = co_await tx->copy("COPY t FROM STDIN (FORMAT binary)");
            end_backend(tx->session().backend_pid());
            std::string rows;
            copy_encoder::header(rows);
            copy_encoder::trailer(rows);
            const auto written = co_await copy->write(rows);
            const auto ended = co_await copy->finish();
            EXPECT_TRUE(written || ended);
        }
        EXPECT_TRUE((co_await pool.execute(take, one)).has_value());
        EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "0");
    });
}

TEST_F(pq_pool, exhaustion_is_busy_after_the_wait_limit_and_first_come_first_served)
{
    with_pool(
        1,
        [&](connection_pool& pool) -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            std::optional<lease> held;
            {
                auto first = co_await pool.acquire();
                held.emplace(std::move(*first));
            }
            EXPECT_EQ((co_await pool.acquire()).error(), errc::database_busy);
            std::string order;
            int finished = 0;
            const auto wait_named = [&](char name) -> awaitable<void> {
                auto got = co_await pool.acquire();
                order += got ? name : '-';
                ++finished;
            };
            for (const char name : {'a', 'b', 'c'})
                asio::co_spawn(ex, wait_named(name), [](std::exception_ptr) {});
            steady_timer tick(ex, 20ms);
            co_await tick.async_wait(use_await);
            EXPECT_EQ(pool.status().waiting, 3u);
            held.reset();
            while (finished < 3) {
                tick.expires_after(5ms);
                co_await tick.async_wait(use_await);
            }
            EXPECT_EQ(order, "abc");
        },
        300ms);
}

// As after SIGCONT: the waiter's timeout is long over, but no holder of a connection could make progress
// either.
TEST_F(pq_pool, a_waiter_that_slept_with_the_whole_process_waits_on)
{
    with_pool(
        1,
        [&](connection_pool& pool) -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            auto first = co_await pool.acquire();
            std::optional<lease> held(std::move(*first));
            std::optional<error_code> waiter;
            const auto wait = [&]() -> awaitable<void> {
                const auto got = co_await pool.acquire();
                waiter = got ? error_code{} : got.error();
            };
            asio::co_spawn(ex, wait(), [](std::exception_ptr) {});
            steady_timer tick(ex, 1ms);
            co_await tick.async_wait(use_await);
            EXPECT_EQ(pool.status().waiting, 1u);
            std::this_thread::sleep_for(350ms + standstill);  // blocks everything on this thread
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
            EXPECT_FALSE(waiter) << "gave up on waking";
            held.reset();
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
            EXPECT_EQ(waiter, error_code{});
        },
        300ms);
}

TEST_F(pq_pool, a_waiter_whose_coroutine_is_cut_does_not_take_a_connection_with_it)
{
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        static const statement lock{"lock", "SELECT pg_sleep(0.02)"};
        const executor ex = co_await asio::this_coro::executor;
        int ended = 0;
        const auto use = [&]() -> awaitable<void> {
            auto got = co_await pool.execute(lock);
            ended += got.has_value();
        };
        for (int i = 0; i < 20; ++i)
            asio::co_spawn(ex, use(), [](std::exception_ptr) {});
        steady_timer tick(ex);
        for (int i = 0; i < 600 && ended < 20; ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(ended, 20);
        EXPECT_EQ(pool.status().in_use, 0u);
    });
}

TEST_F(pq_pool, unsafe_settings_are_refused_with_the_reason)
{
    auto options = db.options();
    test::run([&]() -> awaitable<void> {
        for (const auto& [setting, word] : {std::pair{"synchronous_commit=off", "synchronous_commit"},
                                            {"default_transaction_read_only=on", "read-only"}}) {
            auto unsafe = options;
            unsafe.conninfo += std::string(" options='-c ") + setting + "'";
            connection_pool pool(co_await asio::this_coro::executor, {.connect = unsafe});
            EXPECT_EQ((co_await pool.acquire()).error(), errc::database_unsafe);
            EXPECT_FALSE(pool.status().ready);
            EXPECT_NE(pool.status().last_error.find(word), std::string::npos) << pool.status().last_error;
        }
    });
}

TEST_F(pq_pool, copy_of_25_mib_needs_two_mib_of_client_memory)
{
    db.sql("CREATE TABLE b (id uuid, content bytea); ALTER TABLE b ALTER content SET STORAGE EXTERNAL");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        auto tx = co_await pool.begin(lane::large);
        auto copy = co_await tx->copy("COPY b FROM STDIN (FORMAT binary)");
        std::string head;
        copy_encoder::header(head);
        copy_encoder::row(head, 2);
        const uuid id = make_uuid_v4();
        copy_encoder::add(head, id);
        copy_encoder::length(head, 26'214'400);
        EXPECT_FALSE(co_await copy->write(head));
        const std::string piece(65'536, 'x');
        const auto before = test::live_heap_bytes();
        std::size_t peak = before;
        for (int i = 0; i < 400; ++i) {
            EXPECT_FALSE(co_await copy->write(piece));
            peak = std::max(peak, test::live_heap_bytes());
        }
        EXPECT_LE(peak - before, 2u << 20);
        std::string tail;
        copy_encoder::trailer(tail);
        EXPECT_FALSE(co_await copy->write(tail));
        EXPECT_FALSE(co_await copy->finish());
        EXPECT_TRUE((co_await tx->commit()).has_value());
        EXPECT_EQ(db.ask("SELECT length(content) FROM b"), "26214400");
    });
}

TEST_F(pq_pool, an_aborted_copy_stores_nothing_and_the_connection_survives)
{
    db.sql("CREATE TABLE b (id uuid, content bytea)");
    with_pool(1, [&](connection_pool& pool) -> awaitable<void> {
        {
            auto tx = co_await pool.begin(lane::large);
            auto copy = co_await tx->copy("COPY b FROM STDIN (FORMAT binary)");
            std::string head;
            copy_encoder::header(head);
            EXPECT_FALSE(co_await copy->write(head));
            EXPECT_TRUE(co_await copy->abort("the client went away"));
        }
        const parameters one(std::int32_t{1});
        EXPECT_TRUE((co_await pool.execute(take, one)).has_value());
        EXPECT_EQ(db.ask("SELECT count(*) FROM b"), "0");
    });
}

}  // namespace
}  // namespace restante::pq
