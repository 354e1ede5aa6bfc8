#include "server/events/hub.hpp"
#include "server/presence/presence_writer.hpp"
#include "server/presence/silence_watch.hpp"
#include "storage/tokens.hpp"
#include "storage/workspaces.hpp"
#include "test/support/database.hpp"
#include "test/support/fake_clock.hpp"
#include "test/support/pool.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace restante {
namespace {

using namespace std::chrono_literals;

class heard_events final : public live_event_listener {
public:
    void on_live_event(std::shared_ptr<const live_event> what) noexcept override
    {
        all.push_back(what->name + what->payload);
    }
    std::vector<std::string> take() { return std::exchange(all, {}); }
    std::vector<std::string> all;
};
using strings = std::vector<std::string>;

// One server: its notes, writer and search, with a clock of the test. Its database is shared.
struct server_side {
    server_side(pq::connection_pool& pool, const fake_clock& clock)
        : time(clock),
          store(pool),
          writer(notes, store, events, metrics, clock),
          watch(store, events, metrics, {}, clock)
    {
    }

    awaitable<void> beat(uuid workspace, double error_rate = 0, std::string state = {}, std::string task = {})
    {
        heartbeat said;
        said.report.error_rate = error_rate;
        said.report.runtime_state = std::move(state);
        said.report.current_task = std::move(task);
        notes.note(workspace, time.now(), &said);
        EXPECT_FALSE((co_await writer.write()));
    }

    awaitable<void> poll(uuid workspace)
    {
        notes.note(workspace, time.now());
        EXPECT_FALSE((co_await writer.write()));
    }

    const fake_clock& time;
    presence_store store;
    presence_notes notes{presence_policy{}.stamp_interval()};
    heard_events events;
    metric_set metrics;
    presence_writer writer;
    silence_watch watch;
};

class presence_in_database : public ::testing::Test {
protected:
    presence_in_database()
    {
        test::apply_schema(db);
        add(a, "laptop");
        add(b, "desktop");
    }

    void add(const uuid& id, const std::string& name)
    {
        db.sql("INSERT INTO workspaces (id, name, delivery_mode) VALUES ('" + to_string(id) + "', '" + name +
               "', 'poll')");
    }
    std::string column(const std::string& name, const uuid& of)
    {
        return db.ask("SELECT " + name + " FROM workspace_presence WHERE workspace_id = '" + to_string(of) +
                      "'");
    }
    std::string status(const uuid& of) { return column("status", of); }
    void age(const uuid& of, const std::string& interval)
    {
        db.sql("UPDATE workspace_presence SET last_seen_at = now() - interval '" + interval +
               "' WHERE workspace_id = '" + to_string(of) + "'");
    }

    // Lets the search of a server pass the time in which it only listens.
    awaitable<void> listen_for_a_timeout(server_side& server)
    {
        for (int i = 0; i < 12; ++i) {
            time.advance(15s);
            co_await server.watch.search();
        }
    }

    template <class Body>
    void with_servers(Body body)
    {
        test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
            server_side one(pool, time), two(pool, time);
            co_await body(one, two);
        });
    }

    test::scratch_database db;
    fake_clock time;
    const uuid a = make_uuid_v4();
    const uuid b = make_uuid_v4();
};

TEST_F(presence_in_database, status_follows_what_heartbeats_say)
{
    struct step {
        double error_rate;
        const char* state;
        const char* after;
    };
    const step steps[] = {{0, "", "online"},     {0.49, "", "online"},      {0.5, "", "degraded"},
                          {0.3, "", "degraded"}, {0.1, "", "degraded"},     {0.09, "", "online"},
                          {0.3, "", "online"},   {0, "wedged", "degraded"}, {0, "other", "degraded"},
                          {0, "", "online"},     {1, "wedged", "degraded"}, {0.05, "", "online"}};
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        for (const auto& each : steps) {
            co_await one.beat(a, each.error_rate, each.state);
            EXPECT_EQ(status(a), each.after) << each.error_rate << each.state;
        }
    });
}

TEST_F(presence_in_database, changes_are_reported_once_and_repetitions_are_not)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.beat(a);
        EXPECT_EQ(one.events.take(), strings{}) << "a server of the version before has called it online";
        co_await one.beat(a, 0, "", "sorting");
        EXPECT_EQ(one.events.take(), strings{R"(TASK_UPDATED{"current_task":"sorting","active_tasks":0})"});
        co_await one.beat(a, 0.9, "", "sorting");
        EXPECT_EQ(one.events.take(), strings{R"(WORKSPACE_DEGRADED{"error_rate":9E-1,"sample_error":""})"});
        co_await one.poll(a);
        co_await one.beat(a, 0.9, "", "sorting");
        EXPECT_EQ(one.events.take(), strings{});
        EXPECT_EQ(status(a), "degraded") << "a poll says nothing of errors";
    });
}

TEST_F(presence_in_database, beats_that_say_nothing_new_write_no_row)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.beat(a);
        const auto version = column("xmin::text", a);
        time.advance(30s);
        co_await one.beat(a);
        EXPECT_EQ(column("xmin::text", a), version);
        age(a, "1 hour");
        time.advance(35s);
        EXPECT_FALSE((co_await one.writer.write()));
        EXPECT_EQ(column("now() - last_seen_at BETWEEN interval '34 seconds' AND interval '2 minutes'", a),
                  "t")
            << "at the end of the interval, with the time of the beat";
    });
}

TEST_F(presence_in_database, an_older_sign_never_takes_back_a_newer_one)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.poll(a);
        const presence_sign old{.workspace = a, .age = 1h};
        EXPECT_TRUE((co_await one.store.record({&old, 1})).has_value());
        EXPECT_EQ(column("now() - last_seen_at < interval '1 minute'", a), "t");
    });
}

TEST_F(presence_in_database, what_was_told_to_two_servers_ends_as_it_was_told_last)
{
    with_servers([&](server_side& one, server_side& two) -> awaitable<void> {
        co_await one.beat(a, 0, "", "first");
        co_await two.beat(a, 0.9, "", "second");
        EXPECT_EQ(status(a), "degraded");
        age(a, "1 minute");
        time.advance(30s);
        co_await one.beat(a, 0, "", "first");  // no news for this server
        EXPECT_EQ(column("current_task", a), "second");
        time.advance(35s);
        EXPECT_FALSE((co_await one.writer.write()));
        EXPECT_EQ(column("current_task", a), "first");
        EXPECT_EQ(status(a), "online");
    });
}

TEST_F(presence_in_database, an_older_report_does_not_undo_a_newer_one)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.beat(a, 0, "", "now");
        const auto record = [&](std::chrono::seconds age, std::string task) -> awaitable<void> {
            presence_sign sign{.workspace = a, .age = age};
            sign.report.emplace().current_task = std::move(task);
            EXPECT_TRUE((co_await one.store.record({&sign, 1})).has_value());
        };
        co_await record(60s, "held for a minute");
        EXPECT_EQ(column("current_task", a), "now");
        co_await record(0s, "next");
        EXPECT_EQ(column("current_task", a), "next");
    });
}

TEST_F(presence_in_database, silence_is_judged_by_the_clock_of_the_database_and_reported_once)
{
    with_servers([&](server_side& one, server_side& two) -> awaitable<void> {
        co_await one.poll(a);
        co_await one.poll(b);
        one.events.take();
        co_await listen_for_a_timeout(one);
        time.advance(-180s);
        co_await listen_for_a_timeout(two);
        EXPECT_EQ(status(a), "online") << "whatever the clocks of the servers say";

        age(a, "179 seconds");
        age(b, "181 seconds");
        co_await one.watch.search();
        co_await two.watch.search();
        EXPECT_EQ(status(a), "online");
        EXPECT_EQ(status(b), "offline");
        auto heard = one.events.take();
        const auto by_two = two.events.take();
        heard.insert(heard.end(), by_two.begin(), by_two.end());
        EXPECT_EQ(heard, strings{"WORKSPACE_OFFLINE{}"});

        time.advance(66s);
        co_await two.poll(b);
        EXPECT_EQ(
            two.events.take(),
            strings{
                R"(WORKSPACE_ONLINE{"name":"desktop","delivery_mode":"poll","recovered_from":"offline"})"});
    });
}

TEST_F(presence_in_database, of_servers_that_search_at_once_one_reports_each)
{
    constexpr int many = 2500;
    db.sql(
        "INSERT INTO workspaces (id, delivery_mode) SELECT gen_random_uuid(), 'poll' FROM generate_series(1, " +
        std::to_string(many) +
        "); INSERT INTO workspace_presence (workspace_id, status, last_seen_at) SELECT id, 'online', now() - "
        "interval '1 hour' FROM workspaces");
    with_servers([&](server_side& one, server_side& two) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        time.advance(180s);
        std::vector<uuid> marked;
        int running = 2;
        const auto mark = [&](server_side& by) -> awaitable<void> {
            for (bool more = true; more;) {
                const auto some = co_await by.store.mark_silent(180s);
                marked.insert(marked.end(), some.value().begin(), some.value().end());
                more = !some->empty();
            }
            --running;
        };
        asio::co_spawn(ex, mark(one), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        asio::co_spawn(ex, mark(two), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        steady_timer tick(ex);
        while (running > 0) {
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(marked.size(), many + 2u);
        std::sort(marked.begin(), marked.end());
        EXPECT_EQ(std::unique(marked.begin(), marked.end()), marked.end());
        EXPECT_EQ((co_await one.store.counts()).value().offline, many + 2);
    });
}

// One event more than its queue holds would be lost.
TEST_F(presence_in_database, a_listener_hears_of_each_of_a_thousand_that_fall_silent_and_of_each_that_returns)
{
    std::vector<uuid> all(1000);
    std::string values;
    for (auto& each : all) {
        each = make_uuid_v4();
        values += (values.empty() ? "('" : ",('") + to_string(each) + "', 'poll')";
    }
    db.sql("INSERT INTO workspaces (id, delivery_mode) VALUES " + values +
           "; INSERT INTO workspace_presence (workspace_id, status, last_seen_at)"
           " SELECT id, 'online', now() - interval '1 hour' FROM workspaces WHERE name IS NULL");
    test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        server_side one(pool, time);
        feed_tail tail(pool);
        hub at(ex, tail, one.metrics);
        presence_writer writer(one.notes, one.store, at, one.metrics, time);
        silence_watch watch(one.store, at, one.metrics, {}, time);
        const principal admin{.kind = principal_kind::admin};
        const auto canvas = (co_await at.subscribe(admin, std::nullopt)).value();
        std::size_t heard = 0;
        bool ended = false;
        const auto session = [&]() -> awaitable<void> {
            for (; canvas->cause() == close_cause::none; canvas->release()) {
                co_await canvas->wait_until(wakeup::time_point::max());
                for (; canvas->has_events(); ++heard)
                    canvas->take();
            }
            ended = true;
        };
        asio::co_spawn(ex, session(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        steady_timer tick(ex);
        const auto wait_for = [&](auto condition) -> awaitable<void> {
            while (!condition()) {
                tick.expires_after(1ms);
                co_await tick.async_wait(use_await);
            }
        };

        for (int i = 0; i < 12; ++i) {
            time.advance(15s);
            co_await watch.search();
        }
        co_await wait_for([&] { return !canvas->has_events(); });
        EXPECT_EQ(heard, all.size());
        for (const auto& each : all)
            one.notes.note(each, time.now());
        EXPECT_FALSE((co_await writer.write()));
        co_await wait_for([&] { return !canvas->has_events(); });
        EXPECT_EQ(heard, 2 * all.size());
        canvas->disconnect(close_cause::shutting_down);
        co_await wait_for([&] { return ended; });
    });
}

TEST_F(presence_in_database, a_server_that_could_not_listen_calls_nobody_silent)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.poll(a);
        age(a, "1 hour");
        co_await one.watch.search();
        EXPECT_EQ(status(a), "online") << "it has just started";
        co_await listen_for_a_timeout(one);
        EXPECT_EQ(status(a), "offline");

        time.advance(66s);
        co_await one.poll(a);
        age(a, "1 hour");
        time.advance(10min);
        co_await one.watch.search();
        EXPECT_EQ(status(a), "online") << "it stood still";
        co_await listen_for_a_timeout(one);
        EXPECT_EQ(status(a), "offline");
    });
}

TEST_F(presence_in_database, removed_workspaces_do_not_come_back_and_are_not_reported)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        co_await one.poll(a);
        db.sql("UPDATE workspaces SET removed_at = now()");  // as a server of the version before does
        one.events.take();
        co_await one.beat(b);
        EXPECT_EQ(status(a), "online");
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_presence"), "1")
            << "no row is made for a removed one";
        age(a, "1 hour");
        co_await listen_for_a_timeout(one);
        EXPECT_EQ(status(a), "removed");
        time.advance(66s);
        co_await one.poll(a);
        EXPECT_EQ(status(a), "removed");
        EXPECT_EQ(one.events.take(), strings{});
    });
}

TEST_F(presence_in_database, what_cannot_be_written_is_written_later)
{
    with_servers([&](server_side& one, server_side&) -> awaitable<void> {
        db.sql("ALTER TABLE workspace_presence RENAME TO elsewhere");
        heartbeat said;
        said.report.current_task = "t";
        one.notes.note(a, time.now(), &said);
        EXPECT_EQ((co_await one.writer.write()), errc::schema_missing);
        db.sql("ALTER TABLE elsewhere RENAME TO workspace_presence");
        EXPECT_FALSE((co_await one.writer.write()));
        EXPECT_EQ(column("current_task", a), "t");
        EXPECT_EQ(one.events.take(), strings{R"(TASK_UPDATED{"current_task":"t","active_tasks":0})"});
    });
}

TEST_F(presence_in_database, shards_that_write_the_same_workspaces_at_once_do_not_block_each_other)
{
    std::vector<presence_sign> forwards;
    for (int i = 0; i < 200; ++i) {
        const auto id = make_uuid_v4();
        add(id, "n");
        forwards.push_back({.workspace = id});
    }
    const std::vector<presence_sign> backwards(forwards.rbegin(), forwards.rend());
    with_servers([&](server_side& one, server_side& two) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        int running = 2;
        const auto write = [&](server_side& by, const std::vector<presence_sign>& signs) -> awaitable<void> {
            for (int i = 0; i < 20; ++i)
                EXPECT_TRUE((co_await by.store.record(signs)).has_value());
            --running;
        };
        asio::co_spawn(ex, write(one, forwards), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        asio::co_spawn(ex, write(two, backwards), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        steady_timer tick(ex);
        while (running > 0) {
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ((co_await one.store.counts()).value().online, 200);
    });
    EXPECT_EQ(db.ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), "0");
}

}  // namespace
}  // namespace restante
