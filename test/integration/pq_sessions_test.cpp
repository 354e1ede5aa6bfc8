// How sessions are opened, checked and given up by the pool.
#include "storage/pq/transaction.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

namespace restante::pq {
namespace {

using test::scratch_database;
using namespace std::chrono_literals;

const statement one{"one", "SELECT 1"};

class pq_sessions : public ::testing::Test {
protected:
    template <class Body>
    void with_pool(pool_options options, Body body)
    {
        test::run([&]() -> awaitable<void> {
            connection_pool pool(co_await asio::this_coro::executor, options);
            const auto work = [&] { return body(pool); };
            co_await test::with_running(pool, work);
        });
    }

    // The text of one value, as seen by a session of ours.
    std::string see(const connect_options& options, const std::string& query)
    {
        std::string out;
        test::run([&]() -> awaitable<void> {
            std::string why;
            auto session = co_await connection::open(options, &why);
            EXPECT_TRUE(session.has_value()) << why;
            auto rows = co_await (*session)->execute_script(query);
            EXPECT_TRUE(rows.has_value()) << (*session)->last_message();
            out = rows->text(0, 0);
        });
        return out;
    }

    // The connection string with a dead or silent server before the real one.
    connect_options behind(const std::string& host, unsigned port) const
    {
        const std::string real = db.options().conninfo;
        const auto begin = real.find("host=") + 5;
        const auto directory = real.substr(begin, real.find(' ', begin) - begin);
        return {.conninfo =
                    real + " host=" + host + "," + directory + " port=" + std::to_string(port) + ",5432"};
    }

    // Waits for a condition.
    template <class Condition>
    static awaitable<bool> eventually(Condition holds, std::chrono::milliseconds limit = 30s)
    {
        steady_timer tick(co_await asio::this_coro::executor);
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!holds() && std::chrono::steady_clock::now() < end) {
            tick.expires_after(20ms);
            co_await tick.async_wait(use_await);
        }
        co_return holds();
    }

    scratch_database db;
};

TEST_F(pq_sessions, the_search_path_is_ours)
{
    db.sql(
        "CREATE SCHEMA postgres; CREATE TABLE postgres.t (a text); CREATE TABLE public.t (a text);"
        "INSERT INTO postgres.t VALUES ('theirs'); INSERT INTO public.t VALUES ('ours')");
    EXPECT_EQ(see(db.options(), "SELECT a FROM t"), "ours");
}

TEST_F(pq_sessions, settings_of_the_connection_string_take_precedence)
{
    auto options = db.options();
    EXPECT_EQ(see(options, "SHOW lock_timeout"), "5s");
    EXPECT_EQ(see(options, "SHOW enable_seqscan"), "off");
    options.conninfo += " options='-c lock_timeout=7s'";
    EXPECT_EQ(see(options, "SHOW lock_timeout"), "7s");
    EXPECT_EQ(see(options, "SHOW enable_seqscan"), "off");
}

TEST_F(pq_sessions, transactions_are_read_committed_whatever_the_default)
{
    db.sql("ALTER DATABASE " + db.ask("SELECT current_database()") +
           " SET default_transaction_isolation = 'serializable'");
    EXPECT_EQ(see(db.options(), "SHOW transaction_isolation"), "read committed");
    with_pool({.connect = db.options()}, [&](connection_pool& pool) -> awaitable<void> {
        static const statement show{"show", "SELECT current_setting('transaction_isolation')"};
        static const statement upset{"upset",
                                     "SELECT set_config('default_transaction_isolation', "
                                     "'serializable', false)"};
        parameters none;
        auto borrowed = co_await pool.acquire();
        EXPECT_TRUE((co_await (*borrowed)->execute(upset)).has_value());
        transaction tx(std::move(*borrowed));
        auto shown = co_await tx.execute(show, none);
        EXPECT_EQ((*shown)[0][0].as<std::string>().value(), "read committed");
    });
}

TEST_F(pq_sessions, buffers_that_a_large_value_has_grown_are_not_kept_by_an_idle_connection)
{
    static const statement large{"large", "SELECT repeat('x', 1000000)"};
    with_pool({.connect = db.options(), .grown_lifetime = 100ms},
              [](connection_pool& pool) -> awaitable<void> {
                  EXPECT_TRUE((co_await pool.execute(one)).has_value());
                  const auto plain = pool.status().connects;
                  EXPECT_FALSE(co_await eventually([&] { return pool.status().connects != plain; }, 2s))
                      << "a connection that was never used for much is kept";

                  EXPECT_TRUE((co_await pool.execute(large)).has_value());
                  EXPECT_TRUE(co_await eventually([&] { return pool.status().connects != plain; }))
                      << "the pool opens another one in its place, for its checks";
                  EXPECT_TRUE((co_await pool.execute(one)).has_value());
              });
}

TEST_F(pq_sessions, every_host_of_a_list_is_tried)
{
    EXPECT_EQ(see(behind("/nonexistent", 5432), "SELECT 1"), "1");
}

TEST_F(pq_sessions, a_silent_host_costs_one_timeout_and_then_comes_last)
{
    test::run([&]() -> awaitable<void> {
        tcp_acceptor silent(co_await asio::this_coro::executor,
                            tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        auto options = behind("127.0.0.1", silent.local_endpoint().port());
        options.connect_timeout = 200ms;
        for (const auto& [least, most] : {std::pair{200ms, 2000ms}, {0ms, 190ms}}) {
            const auto begun = std::chrono::steady_clock::now();
            std::string why;
            const auto opened = co_await connection::open(options, &why);
            EXPECT_TRUE(opened.has_value()) << why;
            const auto took = std::chrono::steady_clock::now() - begun;
            EXPECT_GE(took, least);
            EXPECT_LT(took, most);
            options.try_first = (*opened)->address();
        }
    });
}

TEST_F(pq_sessions, hosts_that_all_fail_are_all_named)
{
    test::run([&]() -> awaitable<void> {
        const connect_options options{.conninfo = "host=/nonexistent-a,/nonexistent-b dbname=x"};
        std::string why;
        const auto refused = co_await connection::open(options, &why);
        EXPECT_EQ(refused.error(), errc::database_unavailable);
        EXPECT_NE(why.find("/nonexistent-a"), std::string::npos) << why;
        EXPECT_NE(why.find("/nonexistent-b"), std::string::npos) << why;
    });
}

TEST_F(pq_sessions, several_addresses_without_a_primary_are_a_failover_to_wait_for)
{
    test::run([&]() -> awaitable<void> {
        const std::string real = db.options().conninfo;
        const auto begin = real.find("host=") + 5;
        const auto directory = real.substr(begin, real.find(' ', begin) - begin);
        const connect_options options{
            .conninfo = real + " host=" + directory + "," + directory +
                        " target_session_attrs=any options='-c default_transaction_read_only=on'"};
        std::string why;
        const auto refused = co_await connection::open(options, &why);
        EXPECT_EQ(refused.error(), errc::database_unavailable);
        EXPECT_NE(why.find(directory + ":5432: the database is read-only"), std::string::npos) << why;
    });
}

TEST_F(pq_sessions, a_role_that_may_not_ask_for_the_cluster_is_served)
{
    const auto role = "r_" + db.ask("SELECT current_database()");
    db.sql("CREATE ROLE " + role + " LOGIN; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    for (const bool allowed : {false, true}) {
        if (allowed)
            db.sql("GRANT EXECUTE ON FUNCTION pg_control_system() TO " + role);
        auto options = db.options();
        options.conninfo += " user=" + role;
        options.timelines = std::make_shared<newest_timeline>();
        EXPECT_EQ(see(options, "SHOW lock_timeout"), "5s");
        EXPECT_EQ(options.timelines->clusters_are_hidden(), !allowed);
        const timeline_id older{
            .cluster = std::stoll(db.ask("SELECT system_identifier FROM pg_control_system()")), .number = 0};
        EXPECT_EQ(options.timelines->is_older(older), allowed);
    }
    db.sql("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(pq_sessions, a_session_that_was_used_by_another_client_is_refused)
{
    const auto name = db.ask("SELECT current_database()");
    db.sql("ALTER DATABASE " + name + " SET restante.session = 'taken'");  // as a pooler leaves it behind
    test::run([&]() -> awaitable<void> {
        std::string why;
        const auto refused = co_await connection::open(db.options(), &why);
        EXPECT_EQ(refused.error(), errc::database_unsafe);
        EXPECT_NE(why.find("session mode"), std::string::npos) << why;
    });
}

TEST_F(pq_sessions, a_database_that_turns_unsafe_is_refused_and_comes_back)
{
    const auto name = db.ask("SELECT current_database()");
    with_pool({.connect = db.options()}, [&](connection_pool& pool) -> awaitable<void> {
        for (const std::string setting :
             {"default_transaction_read_only = true", "synchronous_commit = off"}) {
            EXPECT_TRUE((co_await pool.execute(one)).has_value());
            db.sql("ALTER DATABASE " + name + " SET " + setting);
            const auto unready = [&] { return !pool.status().ready; };
            EXPECT_TRUE(co_await eventually(unready)) << setting;
            EXPECT_EQ((co_await pool.execute(one)).error(), errc::database_unsafe);
            EXPECT_NE(pool.status().last_error, "");
            db.sql("BEGIN READ WRITE; ALTER DATABASE " + name + " RESET ALL; COMMIT");
            const auto ready = [&] { return pool.status().ready; };
            EXPECT_TRUE(co_await eventually(ready)) << setting;
        }
        EXPECT_TRUE((co_await pool.execute(one)).has_value());
    });
}

TEST_F(pq_sessions, the_check_is_made_while_every_connection_is_busy)
{
    const auto name = db.ask("SELECT current_database()");
    with_pool({.connect = db.options(), .connections = 1}, [&](connection_pool& pool) -> awaitable<void> {
        static const statement brief{"brief", "SELECT pg_sleep(0.02)"};
        int running = 8;
        bool over = false;
        const auto keep_busy = [&]() -> awaitable<void> {
            while (!over && pool.status().last_error.empty())
                co_await pool.execute(brief);
            --running;
        };
        EXPECT_TRUE((co_await pool.execute(one)).has_value());
        for (int i = 0; i < 8; ++i)
            asio::co_spawn(co_await asio::this_coro::executor, keep_busy(), [](std::exception_ptr) {});
        db.sql("ALTER DATABASE " + name + " SET synchronous_commit = off");
        const auto unready = [&] { return !pool.status().ready; };
        EXPECT_TRUE(co_await eventually(unready));
        over = true;
        const auto ended = [&] { return running == 0; };
        EXPECT_TRUE(co_await eventually(ended));
    });
}

TEST_F(pq_sessions, a_session_that_became_read_only_is_not_kept)
{
    db.sql("CREATE TABLE t (a int)");
    with_pool({.connect = db.options(), .connections = 1}, [&](connection_pool& pool) -> awaitable<void> {
        static const statement upset{"upset",
                                     "SELECT set_config('default_transaction_read_only', 'on', false)"};
        static const statement write{"write", "INSERT INTO t VALUES (1)"};
        {
            auto borrowed = co_await pool.acquire();
            EXPECT_TRUE((co_await (*borrowed)->execute(upset)).has_value());
            EXPECT_EQ((co_await (*borrowed)->execute(write)).error(), errc::database_unsafe);
        }
        result<result_set> written = RESTANTE_ERROR(errc::database_unsafe);
        for (int i = 0; i < 100 && !written; ++i)
            written = co_await pool.execute(write);
        EXPECT_TRUE(written.has_value());
    });
}

// Waiters end in every state: queued, granted and not resumed, in the second chance.
TEST_F(pq_sessions, a_cancelled_waiter_leaves_the_queue_and_loses_no_connection)
{
    with_pool({.connect = db.options(), .connections = 1}, [&](connection_pool& pool) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        const auto wait = [&]() -> awaitable<void> {
            const auto got = co_await pool.acquire();
            co_await asio::post(ex, use_await);
        };
        for (const bool granted : {false, true}) {
            std::optional<lease> held;
            {
                auto first = co_await pool.acquire();
                EXPECT_TRUE(first.has_value());
                held.emplace(std::move(*first));
            }
            asio::cancellation_signal cancel;
            bool ended = false;
            const auto end = [&](std::exception_ptr) { ended = true; };
            asio::co_spawn(ex, wait(), asio::bind_cancellation_slot(cancel.slot(), end));
            const auto queued = [&] { return pool.status().waiting == 1; };
            EXPECT_TRUE(co_await eventually(queued));
            if (granted)
                held.reset();
            cancel.emit(asio::cancellation_type::terminal);
            const auto is_over = [&] { return ended; };
            EXPECT_TRUE(co_await eventually(is_over));
            EXPECT_EQ(pool.status().waiting, 0u);
            held.reset();
            EXPECT_TRUE((co_await pool.execute(one)).has_value());
        }
        EXPECT_EQ(pool.status().in_use, 0u);
    });
}

TEST_F(pq_sessions, a_pool_may_end_while_it_connects)
{
    test::run([&]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        tcp_acceptor silent(ex, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        connect_options options{
            .conninfo = "host=127.0.0.1 port=" + std::to_string(silent.local_endpoint().port()),
            .connect_timeout = 100ms};
        {
            connection_pool pool(ex, {.connect = options, .wait_limit = 20ms});
            EXPECT_EQ((co_await pool.acquire()).error(), errc::database_unavailable);
        }
        steady_timer later(ex, 150ms);
        co_await later.async_wait(use_await);
    });
}

TEST_F(pq_sessions, a_burst_is_served_by_the_connection_that_is_free_first)
{
    with_pool({.connect = db.options(), .connections = 8}, [&](connection_pool& pool) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        EXPECT_TRUE((co_await pool.execute(one)).has_value());
        int answered = 0;
        const auto ask = [&]() -> awaitable<void> {
            const auto got = co_await pool.execute(one);
            answered += got.has_value();
        };
        for (int i = 0; i < 64; ++i)
            asio::co_spawn(ex, ask(), [](std::exception_ptr) {});
        const auto all = [&] { return answered == 64; };
        EXPECT_TRUE(co_await eventually(all));
        EXPECT_LE(pool.status().connects, 8u);
        const auto settled = [&] { return pool.status().in_use == 0; };
        EXPECT_TRUE(co_await eventually(settled));
    });
}

}  // namespace
}  // namespace restante::pq
