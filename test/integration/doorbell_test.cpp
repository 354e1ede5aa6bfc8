#include "storage/doorbell.hpp"

#include "storage/live_payload.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

// The notifications that one server received, and a way to wait for them.
struct ear final : doorbell_listener {
    explicit ear(executor ex) : changed(ex) {}

    void on_changes(const changes& heard) noexcept override
    {
        all.push_back(heard);
        changed.notify_all();
    }

    void on_remote_event(std::shared_ptr<const live_event> heard) noexcept override
    {
        events.push_back(*heard);
        changed.notify_all();
    }

    template <class Condition>
    awaitable<bool> until(Condition condition)
    {
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (!condition())
            if (!co_await changed.wait_until(end))
                co_return false;
        co_return true;
    }

    std::size_t looks() const
    {
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](const changes& each) { return each.everything; }));
    }
    std::int64_t newest(const uuid& workspace) const
    {
        std::int64_t seq = 0;
        for (const auto& each : all)
            if (const auto found = each.activity.find(workspace); found != each.activity.end())
                seq = found->second;
        return seq;
    }

    std::vector<changes> all;
    std::vector<live_event> events;
    wakeup changed;
};

// One server's doorbell with both of its tasks.
struct house {
    house(executor ex, const test::scratch_database& db) : heard(ex), bell(ex, db.options(), heard), tasks(ex)
    {
        tasks.spawn("ringer", bell.run_ringer(tasks));
        tasks.spawn("listener", bell.run_listener(tasks));
    }
    awaitable<void> listening()
    {
        // A new listener is first told to check everything.
        const bool begun = co_await heard.until([this] { return heard.looks() > 0; });
        EXPECT_TRUE(begun);
    }
    awaitable<void> leave()
    {
        const bool ended = co_await tasks.shutdown(2s);
        EXPECT_TRUE(ended);
    }

    ear heard;
    doorbell bell;
    task_group tasks;
};

class doorbells : public ::testing::Test {
protected:
    template <class Body>
    void with_two(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            house here(ex, db), there(ex, db);
            co_await here.listening();
            co_await there.listening();
            co_await body(here, there);
            co_await here.leave();
            co_await there.leave();
        });
    }

    int cut(const std::string& lines)
    {
        return std::stoi(
            db.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
                   "current_database() AND pid <> pg_backend_pid() AND query LIKE '" +
                   lines + "'"));
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
};

TEST_F(doorbells, what_one_rings_the_other_hears_and_not_itself)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        const auto token = make_uuid_v4();
        here.bell.activity(workspace, 7);
        here.bell.token_revoked(token);
        here.bell.workspace_changed(workspace);
        here.bell.workspace_removed(workspace);
        const bool heard = co_await there.heard.until(
            [&] { return !there.heard.all.empty() && !there.heard.all.back().removed_workspaces.empty(); });
        EXPECT_TRUE(heard);
        EXPECT_EQ(there.heard.newest(workspace), 7);
        there.bell.activity(workspace, 8);
        const bool answered = co_await here.heard.until([&] { return here.heard.newest(workspace) == 8; });
        EXPECT_TRUE(answered);
        // The reply came after our own notification in PostgreSQL's queue, and nothing else was received.
        EXPECT_EQ(here.heard.all.size(), 2u);
    });
}

TEST_F(doorbells, live_events_reach_the_other_in_order_and_not_oneself)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        constexpr int many = 1000;
        for (int i = 0; i < many; ++i)
            here.bell.live(std::make_shared<const live_event>(
                live_event{.workspace = workspace, .name = "UPLOAD_ACKED", .payload = std::to_string(i)}));
        const bool heard = co_await there.heard.until([&] { return there.heard.events.size() == many; });
        EXPECT_TRUE(heard);
        for (int i = 0; i < many; ++i)
            EXPECT_EQ(there.heard.events[static_cast<std::size_t>(i)].payload, std::to_string(i));
        there.bell.live(std::make_shared<const live_event>(
            live_event{.workspace = workspace, .name = "WORKSPACE_OFFLINE", .payload = "{}"}));
        const bool answered = co_await here.heard.until([&] { return !here.heard.events.empty(); });
        EXPECT_TRUE(answered);
        EXPECT_EQ(here.heard.events.size(), 1u) << "its own events are not heard again";
    });
}

// What a server does whose NOTIFY was committed while the reply was lost.
TEST_F(doorbells, a_payload_that_is_sent_again_is_delivered_once)
{
    with_two([&](house& here, house&) -> awaitable<void> {
        const auto sender = make_uuid_v4();
        const auto send = [&](std::int64_t number, const char* payload) {
            std::deque waiting{std::make_shared<const live_event>(
                live_event{.workspace = workspace, .name = "UPLOAD_ACKED", .payload = payload})};
            db.sql("NOTIFY restante_events, '" + write_live_payload(sender, number, waiting) + "'");
        };
        send(1, "first");
        send(1, "first");
        send(2, "second");
        send(1, "first");
        send(3, "third");
        const bool heard = co_await here.heard.until(
            [&] { return !here.heard.events.empty() && here.heard.events.back().payload == "third"; });
        EXPECT_TRUE(heard);
        EXPECT_EQ(here.heard.events.size(), 3u);
    });
}

TEST_F(doorbells, only_so_many_live_events_wait)
{
    test::run([&]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        house there(ex, db);
        co_await there.listening();
        ear nobody(ex);
        doorbell silent(ex, db.options(), nobody);
        for (int i = 0; i < 5000; ++i)
            silent.live(std::make_shared<const live_event>(
                live_event{.workspace = workspace, .name = "UPLOAD_EXPIRED", .payload = std::to_string(i)}));
        task_group tasks(ex);
        tasks.spawn("ringer", silent.run_ringer(tasks));
        const bool heard = co_await there.heard.until(
            [&] { return !there.heard.events.empty() && there.heard.events.back().payload == "4999"; });
        EXPECT_TRUE(heard);
        EXPECT_EQ(there.heard.events.size(), 4096u) << "the oldest gave way";
        co_await tasks.shutdown(2s);
        co_await there.leave();
    });
}

TEST_F(doorbells, many_commits_are_few_bells)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        steady_timer pause(co_await asio::this_coro::executor);
        for (int seq = 1; seq <= 200; ++seq) {
            here.bell.activity(workspace, seq);
            pause.expires_after(1ms);
            co_await pause.async_wait(use_await);
        }
        const bool heard = co_await there.heard.until([&] { return there.heard.newest(workspace) == 200; });
        EXPECT_TRUE(heard);
        EXPECT_LT(there.heard.all.size(), 60u);
    });
}

TEST_F(doorbells, more_workspaces_than_a_bell_can_name)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        for (int i = 0; i < 5000; ++i)
            here.bell.activity(make_uuid_v4(), 1);
        const bool heard = co_await there.heard.until([&] { return there.heard.looks() == 2; });
        EXPECT_TRUE(heard);
    });
}

TEST_F(doorbells, a_cut_listener_is_told_to_look_at_everything)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        EXPECT_EQ(cut("LISTEN%"), 2);
        const bool looked = co_await there.heard.until([&] { return there.heard.looks() == 2; });
        EXPECT_TRUE(looked);
        here.bell.activity(workspace, 1);
        const bool heard = co_await there.heard.until([&] { return there.heard.newest(workspace) == 1; });
        EXPECT_TRUE(heard);
    });
}

TEST_F(doorbells, a_cut_ringer_rings_again)
{
    with_two([&](house& here, house& there) -> awaitable<void> {
        for (int seq = 1; seq <= 3; ++seq) {
            here.bell.activity(workspace, seq);
            const bool heard =
                co_await there.heard.until([&] { return there.heard.newest(workspace) == seq; });
            EXPECT_TRUE(heard);
            EXPECT_EQ(cut("%pg_notify%"), 1);
        }
    });
}

TEST_F(doorbells, foreign_words_mean_that_something_happened)
{
    with_two([&](house& here, house&) -> awaitable<void> {
        db.sql("NOTIFY restante, 'hello'");
        const bool looked = co_await here.heard.until([&] { return here.heard.looks() == 2; });
        EXPECT_TRUE(looked);
    });
}

TEST_F(doorbells, the_last_words_are_rung)
{
    test::run([&]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        house here(ex, db), there(ex, db);
        co_await there.listening();
        here.bell.activity(workspace, 1);
        co_await here.leave();
        const bool heard = co_await there.heard.until([&] { return there.heard.newest(workspace) == 1; });
        EXPECT_TRUE(heard);
        co_await there.leave();
    });
}

}  // namespace
}  // namespace restante
