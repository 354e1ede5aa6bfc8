#include "storage/pq/connection.hpp"
#include "storage/pq/pipeline.hpp"
#include "test/support/database.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

namespace restante::pq {
namespace {

using test::run;
using test::scratch_database;

class pq_connection : public ::testing::Test {
protected:
    awaitable<std::unique_ptr<connection>> open(connect_options options)
    {
        std::string why;
        auto opened = co_await connection::open(options, &why);
        if (!opened)
            throw std::runtime_error(why);
        co_return std::move(*opened);
    }
    awaitable<std::unique_ptr<connection>> open() { return open(db.options()); }

    scratch_database db;
};

TEST_F(pq_connection, refused_and_unparsable_are_told_apart)
{
    run([&]() -> awaitable<void> {
        std::string why;
        connect_options nowhere{.conninfo = "host=/nonexistent-directory"};
        auto refused = co_await connection::open(nowhere, &why);
        EXPECT_EQ(refused.error(), errc::database_unavailable);
        EXPECT_NE(why.find("nonexistent-directory"), std::string::npos) << why;
        connect_options nonsense{.conninfo = "hots=x"};
        auto wrong = co_await connection::open(nonsense, &why);
        EXPECT_EQ(wrong.error(), errc::bad_setting);
        EXPECT_NE(why.find("hots"), std::string::npos) << why;
    });
}

TEST_F(pq_connection, a_server_that_says_nothing_times_out)
{
    run([&]() -> awaitable<void> {
        tcp_acceptor silent(co_await asio::this_coro::executor,
                            tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        connect_options options{
            .conninfo = "host=127.0.0.1 port=" + std::to_string(silent.local_endpoint().port()),
            .connect_timeout = std::chrono::milliseconds(200)};
        auto opened = co_await connection::open(options);
        EXPECT_EQ(opened.error(), errc::database_timeout);
    });
}

TEST_F(pq_connection, notices_are_lines_of_our_log)
{
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const log_capture log;
        const auto said = co_await session->execute_script("DO $$ BEGIN RAISE WARNING 'hello'; END $$");
        EXPECT_TRUE(said.has_value());
        const auto lines = log.lines();
        EXPECT_EQ(lines.size(), 1u);
        EXPECT_NE(lines[0].find(R"("event":"postgres_notice","message":"hello")"), std::string::npos)
            << lines[0];
    });
}

TEST_F(pq_connection, every_type_goes_both_ways)
{
    static const statement echo{
        "echo",
        "SELECT $1::bool, $2::int4, $3::int8, $4::float8, $5::uuid, $6::timestamptz, $7::text, "
        "$8::bytea, $9::jsonb, $10::uuid[], $11::int8[], $12::text[], $13::text"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const uuid id = make_uuid_v7();
        const timestamp when{std::chrono::microseconds(1'763'254'800'123'456)};
        const std::string bytes("\0\1\377\r\n", 5);
        const std::string json = R"({"a": [1, "ü"]})";
        const std::vector<uuid> ids{id, make_uuid_v4()};
        const std::vector<std::int64_t> numbers{-1, 0, INT64_MAX};
        const std::vector<std::string_view> texts{"", "two words", "ünï"};
        const parameters with(true, std::int32_t{-7}, INT64_MIN, 2.5, id, when, "tëxt", blob(bytes),
                              jsonb(json), std::span<const uuid>(ids), std::span<const std::int64_t>(numbers),
                              std::span<const std::string_view>(texts), std::nullopt);
        auto got = co_await session->execute(echo, with);
        EXPECT_TRUE(got.has_value());
        const auto r = (*got)[0];
        EXPECT_EQ(r[0].as<bool>().value(), true);
        EXPECT_EQ(r[1].as<std::int32_t>().value(), -7);
        EXPECT_EQ(r[2].as<std::int64_t>().value(), INT64_MIN);
        EXPECT_EQ(r[3].as<double>().value(), 2.5);
        EXPECT_EQ(r[4].as<uuid>().value(), id);
        EXPECT_EQ(r[5].as<timestamp>().value(), when);
        EXPECT_EQ(r[6].as<std::string>().value(), "tëxt");
        const auto back = r[7].as<blob>().value();
        EXPECT_EQ(std::string(back.begin(), back.end()), bytes);
        EXPECT_EQ(r[8].as<std::string>().value(), json);
        EXPECT_EQ(r[9].as<std::vector<uuid>>().value(), ids);
        EXPECT_EQ(r[10].as<std::vector<std::int64_t>>().value(), numbers);
        EXPECT_EQ(r[11].as<std::vector<std::string>>().value(),
                  (std::vector<std::string>{"", "two words", "ünï"}));
        EXPECT_FALSE(r[12].as<std::optional<std::string>>().value());
    });
}

TEST_F(pq_connection, arrays_with_null_elements_and_without_any)
{
    static const statement count{"count", "SELECT count(*), count(x) FROM unnest($1::uuid[]) x"};
    static const statement texts{"texts", "SELECT array_length($1::text[], 1), ($1::text[])[2] IS NULL"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const std::vector<std::optional<uuid>> ids{make_uuid_v4(), std::nullopt};
        const parameters with(std::span<const std::optional<uuid>>{ids});
        auto counted = co_await session->execute(count, with);
        EXPECT_EQ(((*counted)[0].as<std::int64_t, std::int64_t>().value()), (std::tuple{2, 1}));
        const std::vector<std::optional<std::string_view>> words{"a", std::nullopt, "c"};
        const parameters more(std::span<const std::optional<std::string_view>>{words});
        auto looked = co_await session->execute(texts, more);
        EXPECT_EQ(((*looked)[0].as<std::int32_t, bool>().value()), (std::tuple{3, true}));
        const parameters empty(std::span<const uuid>{});
        auto none = co_await session->execute(count, empty);
        EXPECT_EQ(((*none)[0].as<std::int64_t, std::int64_t>().value()), (std::tuple{0, 0}));
    });
}

TEST_F(pq_connection, a_wrong_type_or_null_is_an_error_not_a_crash)
{
    static const statement pair{"pair", "SELECT 'x'::text, NULL::int8"};
    struct two {
        std::string name;
        std::optional<std::int64_t> number;
    };
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        auto got = co_await session->execute(pair);
        const auto r = (*got)[0];
        EXPECT_EQ(r[0].as<std::int64_t>().error(), errc::wrong_column_type);
        EXPECT_EQ(r[1].as<std::int64_t>().error(), errc::unexpected_null);
        EXPECT_EQ((r.as<std::string, std::int64_t>().error()), errc::unexpected_null);
        const auto filled = r.into<two, std::string, std::optional<std::int64_t>>();
        EXPECT_EQ(filled.value().name, "x");
    });
}

TEST_F(pq_connection, a_blob_of_25_mib_comes_back_byte_for_byte)
{
    static const statement echo{"echo_blob", "SELECT $1::bytea"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        std::string bytes(26'214'400, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i * 31 >> 3);
        const parameters with{blob(bytes)};
        auto got = co_await session->execute(echo, with);
        const auto back = (*got)[0][0].as<blob>().value();
        EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin(), bytes.end()));
        EXPECT_TRUE(session->outgrown()) << "the pool should not keep a session with such buffers";
    });
}

TEST_F(pq_connection, sqlstates_become_our_errors_and_the_session_goes_on)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY CHECK (k < 10))");
    static const statement insert{"insert", "INSERT INTO t VALUES ($1::int4)"};
    static const statement missing{"missing", "SELECT * FROM nowhere"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const parameters one(std::int32_t{1}), ten(std::int32_t{10});
        EXPECT_TRUE((co_await session->execute(insert, one)).has_value());
        EXPECT_EQ((co_await session->execute(insert, one)).error(), errc::unique_violation);
        EXPECT_EQ((co_await session->execute(insert, ten)).error(), errc::check_violation);
        EXPECT_EQ((co_await session->execute(missing)).error(), errc::schema_missing);
        EXPECT_EQ(session->last_sqlstate(), "42P01");
        // Parse failed, so the statement must be prepared again once its table exists.
        db.sql("CREATE TABLE nowhere (a int)");
        EXPECT_TRUE((co_await session->execute(missing)).has_value());
        EXPECT_FALSE(session->broken());
    });
}

TEST_F(pq_connection, an_error_in_the_middle_of_a_pipeline)
{
    db.sql("CREATE TABLE t (k int PRIMARY KEY)");
    static const statement begin{"begin", "BEGIN"}, commit{"commit", "COMMIT"};
    static const statement insert{"insert", "INSERT INTO t VALUES ($1::int4)"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const parameters one(std::int32_t{1}), two(std::int32_t{2});
        pipeline work(*session);
        work.add(begin);
        work.add(insert, one);
        work.add(insert, one);
        work.add(insert, two);
        work.add(commit);
        auto results = co_await work.run();
        EXPECT_EQ(results.error(), errc::unique_violation);
        EXPECT_EQ(work.failed_at(), 2u);
        EXPECT_FALSE(session->broken());
        EXPECT_FALSE(session->busy());
        EXPECT_TRUE(session->in_transaction()) << "for the pool to roll back";
        EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "0");
    });
}

TEST_F(pq_connection, a_pipeline_is_one_round_trip_with_all_results_in_order)
{
    static const statement give{"give", "SELECT $1::int4"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        for (int round = 0; round < 2; ++round) {
            pipeline work(*session);
            for (std::int32_t i = 0; i < 50; ++i) {
                const parameters with(i);
                work.add(give, with);
            }
            auto results = co_await work.run();
            EXPECT_EQ(results.value().size(), 50u);
            for (int i = 0; i < 50; ++i)
                EXPECT_EQ((*results)[static_cast<std::size_t>(i)][0][0].as<std::int32_t>().value(), i);
        }
    });
}

TEST_F(pq_connection, a_statement_can_be_cancelled_over_a_second_connection)
{
    static const statement sleep{"sleep", "SELECT pg_sleep(30)"};
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        const executor ex = co_await asio::this_coro::executor;
        steady_timer soon(ex, std::chrono::milliseconds(100));
        bool cancelled = false;
        auto canceller = [&]() -> awaitable<void> {
            co_await soon.async_wait(use_await);
            co_await session->cancel();
            cancelled = true;
        };
        asio::co_spawn(ex, canceller(), [](std::exception_ptr) {});
        auto got = co_await session->execute(sleep);
        EXPECT_EQ(got.error(), errc::database_timeout);
        EXPECT_EQ(session->last_sqlstate(), "57014");
        EXPECT_FALSE(session->broken());
        while (!cancelled) {
            soon.expires_after(std::chrono::milliseconds(5));
            co_await soon.async_wait(use_await);
        }
    });
}

TEST_F(pq_connection, a_silent_server_breaks_the_connection_in_time)
{
    static const statement sleep{"sleep", "SELECT pg_sleep(30)"};
    run([&]() -> awaitable<void> {
        auto options = db.options();
        options.io_timeout = std::chrono::milliseconds(150);
        auto session = co_await open(options);
        EXPECT_EQ((co_await session->execute(sleep)).error(), errc::database_timeout);
        EXPECT_TRUE(session->broken());
    });
}

TEST_F(pq_connection, notifications_arrive)
{
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        co_await session->execute_script("LISTEN bell");
        db.sql("NOTIFY bell, 'ding'");
        auto heard = co_await session->next_notification();
        EXPECT_EQ(heard.value().channel, "bell");
        EXPECT_EQ(heard.value().payload, "ding");
    });
}

TEST_F(pq_connection, a_session_the_server_ended_is_known_without_using_it)
{
    run([&]() -> awaitable<void> {
        auto session = co_await open();
        EXPECT_FALSE(session->closed_by_server());
        db.sql("SELECT pg_terminate_backend(" + std::to_string(session->backend_pid()) + ", 5000)");
        EXPECT_TRUE(session->closed_by_server());
    });
}

}  // namespace
}  // namespace restante::pq
