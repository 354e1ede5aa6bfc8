#include "core/task_group.hpp"

#include "core/wakeup.hpp"
#include "test/support/log_capture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace restante {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct task_group_test : testing::Test {
    // Runs a coroutine alongside the group's tasks, until both have ended; nothing may take longer than 20 s.
    template <class T>
    T run(awaitable<T> task)
    {
        std::optional<T> out;
        auto done = [&out](std::exception_ptr failure, T value) {
            if (failure)
                std::rethrow_exception(failure);
            out = value;
        };
        asio::co_spawn(context.get_executor(), std::move(task), done);
        drain();
        if (!out)
            throw std::runtime_error("the coroutine under test did not end");
        return *out;
    }

    void drain()
    {
        context.restart();
        context.run_for(20s);
    }

    awaitable<void> sleep(clock_type::duration delay)
    {
        steady_timer timer(context.get_executor(), delay);
        co_await timer.async_wait(use_await);
    }

    asio::io_context context{1};
    task_group tasks{context.get_executor()};
    log_capture log;
};

TEST_F(task_group_test, counts_what_runs)
{
    int ended = 0;
    auto short_task = [&]() -> awaitable<void> {
        co_await sleep(1ms);
        ++ended;
    };
    for (int i = 0; i < 3; ++i)
        tasks.spawn("short", short_task());
    EXPECT_EQ(tasks.size(), 3u);
    drain();
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_EQ(ended, 3);
}

TEST_F(task_group_test, an_exception_is_logged_once_with_the_name_and_counted)
{
    std::vector<std::string> failed;
    tasks.on_failure([&](std::string_view name) { failed.emplace_back(name); });
    auto at_once = []() -> awaitable<void> {
        throw std::runtime_error("broke \"early\"");
        co_return;
    };
    auto later = [&]() -> awaitable<void> {
        co_await sleep(1ms);
        throw 42;
    };
    tasks.spawn("first", at_once());
    tasks.spawn("second", later());
    drain();

    EXPECT_EQ(failed, (std::vector<std::string>{"first", "second"}));
    const auto lines = log.lines();
    ASSERT_EQ(lines.size(), 2u);
    const auto first = boost::json::parse(lines[0]);
    EXPECT_EQ(first.at("event"), "task_failed");
    EXPECT_EQ(first.at("level"), "error");
    EXPECT_EQ(first.at("task"), "first");
    EXPECT_EQ(first.at("error"), "broke \"early\"");
    EXPECT_EQ(boost::json::parse(lines[1]).at("error"), "unknown exception");
}

TEST_F(task_group_test, shutdown_lets_tasks_finish)
{
    bool finished = false;
    auto polite = [&]() -> awaitable<void> {
        while (!co_await tasks.stopped_within(1h)) {
        }
        co_await sleep(5ms);
        finished = true;
    };
    tasks.spawn("polite", polite());
    const auto start = clock_type::now();
    EXPECT_TRUE(run(tasks.shutdown(10s)));
    EXPECT_LT(clock_type::now() - start, 5s);
    EXPECT_TRUE(finished);
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(task_group_test, shutdown_cancels_what_does_not_end_and_waits_for_it)
{
    bool unwound = false;
    struct mark {
        bool& flag;
        ~mark() { flag = true; }
    };
    auto deaf = [&]() -> awaitable<void> {
        const mark at_end{unwound};
        for (;;)
            co_await sleep(1h);
    };
    tasks.spawn("deaf", deaf());
    EXPECT_TRUE(run(tasks.shutdown(10ms)));
    EXPECT_TRUE(unwound);
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_TRUE(log.lines().empty());  // a cancelled task has not failed
}

TEST_F(task_group_test, a_task_that_ignores_cancellation_is_named)
{
    wakeup never(context.get_executor());
    auto stuck = [&]() -> awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await never.wait();
    };
    tasks.spawn("stuck", stuck());
    auto shutdown = [&]() -> awaitable<bool> {
        const bool empty = co_await tasks.shutdown(5ms, 5ms);
        never.notify_all();
        co_return empty;
    };
    EXPECT_FALSE(run(shutdown()));
    const auto lines = log.lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(boost::json::parse(lines[0]).at("event"), "task_stuck");
    EXPECT_EQ(boost::json::parse(lines[0]).at("task"), "stuck");
    EXPECT_EQ(tasks.size(), 0u);
}

// Without precautions co_spawn lets operation_aborted escape from io_context::run() in these two.
TEST_F(task_group_test, a_task_cancelled_before_it_began_ends_quietly)
{
    bool began = false;
    auto sleeper = [&]() -> awaitable<void> {
        began = true;
        co_await sleep(1h);
    };
    tasks.cancel();  // takes effect when the context runs: after spawn, before the task
    tasks.spawn("sleeper", sleeper());
    EXPECT_NO_THROW(drain());
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_FALSE(began);
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(task_group_test, a_task_that_cancels_its_group_may_return_or_throw)
{
    auto returns = [&]() -> awaitable<void> {
        tasks.cancel();
        co_return;
    };
    auto throws = [&]() -> awaitable<void> {
        tasks.cancel();
        throw std::runtime_error("all is lost");
        co_return;
    };
    tasks.spawn("returns", returns());
    EXPECT_NO_THROW(drain());
    tasks.spawn("throws", throws());
    EXPECT_NO_THROW(drain());
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_EQ(log.lines().size(), 1u);
}

TEST_F(task_group_test, finished_answers_at_the_deadline_or_when_empty)
{
    EXPECT_TRUE(run(tasks.finished(clock_type::now())));

    auto long_task = [&]() -> awaitable<void> { co_await sleep(1h); };
    tasks.spawn("long", long_task());
    auto too_early = [&]() -> awaitable<bool> {
        const bool empty = co_await tasks.finished(clock_type::now() + 5ms);
        tasks.cancel();
        co_return empty;
    };
    EXPECT_FALSE(run(too_early()));
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(task_group_test, stop_callbacks_run_once_and_only_while_registered)
{
    std::vector<int> called;
    const task_group::stop_callback first(tasks, [&] { called.push_back(1); });
    {
        const task_group::stop_callback gone(tasks, [&] { called.push_back(2); });
    }
    auto third = std::make_unique<task_group::stop_callback>(tasks, [] {});
    const task_group::stop_callback drops_third(tasks, [&] { third.reset(); });
    std::unique_ptr<task_group::stop_callback> itself;
    itself = std::make_unique<task_group::stop_callback>(tasks, [&] {
        itself.reset();
        called.push_back(4);
    });
    EXPECT_FALSE(tasks.stop_requested());
    tasks.request_stop();
    tasks.request_stop();
    EXPECT_TRUE(tasks.stop_requested());
    EXPECT_EQ(called, (std::vector<int>{1, 4}));

    const task_group::stop_callback late(tasks, [&] { called.push_back(5); });
    EXPECT_EQ(called.back(), 5);
}

TEST_F(task_group_test, stopped_within_sleeps_its_time)
{
    const auto start = clock_type::now();
    EXPECT_FALSE(run(tasks.stopped_within(5ms)));
    EXPECT_GE(clock_type::now() - start, 5ms);
    tasks.request_stop();
    EXPECT_TRUE(run(tasks.stopped_within(1h)));
}

TEST_F(task_group_test, a_supervised_task_is_restarted_until_it_returns)
{
    std::map<std::string, int, std::less<>> restarts, failures;
    tasks.on_restart([&](std::string_view name) { ++restarts[std::string(name)]; });
    tasks.on_failure([&](std::string_view name) { ++failures[std::string(name)]; });
    std::vector<clock_type::time_point> starts;
    auto flaky = [&]() -> awaitable<void> {
        starts.push_back(clock_type::now());
        co_await sleep(1ms);
        if (starts.size() < 5)
            throw std::runtime_error("not yet");
    };
    tasks.spawn_supervised("flaky", flaky, {10ms, 20ms});
    drain();
    ASSERT_EQ(starts.size(), 5u);
    EXPECT_EQ(restarts["flaky"], 4);
    EXPECT_EQ(failures["flaky"], 4);
    EXPECT_EQ(log.lines().size(), 4u);
    EXPECT_GE(starts[1] - starts[0], 10ms);
    EXPECT_GE(starts[2] - starts[1], 20ms);
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(task_group_test, a_factory_that_throws_counts_as_a_failed_task)
{
    int calls = 0;
    auto make = [&]() -> awaitable<void> {
        if (++calls == 1)
            throw std::runtime_error("no task");
        return sleep(1ms);
    };
    tasks.spawn_supervised("odd", make, {1ms, 1ms});
    drain();
    EXPECT_EQ(calls, 2);
}

TEST_F(task_group_test, no_restart_after_a_stop_or_a_cancellation)
{
    int starts = 0;
    auto broken = [&]() -> awaitable<void> {
        ++starts;
        throw std::runtime_error("always");
        co_return;
    };
    auto endless = [&]() -> awaitable<void> {
        ++starts;
        co_await sleep(1h);
    };
    tasks.spawn_supervised("broken", broken, {1h, 1h});
    tasks.spawn_supervised("endless", endless, {1ms, 1ms});
    EXPECT_TRUE(run(tasks.shutdown(10ms)));
    EXPECT_EQ(starts, 2);
    EXPECT_EQ(log.lines().size(), 1u);
}

TEST_F(task_group_test, a_supervised_task_that_fails_while_stopping_is_not_waited_for)
{
    auto fails_at_stop = [&]() -> awaitable<void> {
        co_await tasks.stopped_within(1h);
        throw std::runtime_error("no clean end");
    };
    tasks.spawn_supervised("fails_at_stop", fails_at_stop, {1h, 1h});
    const auto start = clock_type::now();
    EXPECT_TRUE(run(tasks.shutdown(10s)));
    EXPECT_LT(clock_type::now() - start, 5s);
}

TEST_F(task_group_test, a_task_spawned_by_a_task_being_cancelled_is_cancelled_too)
{
    struct spawns_at_end {
        task_group_test& test;
        ~spawns_at_end() { test.tasks.spawn("child", test.sleep(1h)); }
    };
    auto parent = [this]() -> awaitable<void> {
        const spawns_at_end at_end{*this};
        co_await sleep(1h);
    };
    tasks.spawn("parent", parent());
    auto shutdown = [&]() -> awaitable<bool> {
        co_await tasks.shutdown(1ms, 1ms);
        co_return co_await tasks.shutdown(1ms);
    };
    EXPECT_TRUE(run(shutdown()));
}

TEST_F(task_group_test, tens_of_thousands_of_short_tasks)
{
    std::size_t ended = 0;
    auto tiny = [&]() -> awaitable<void> {
        co_await asio::post(context.get_executor(), use_await);
        ++ended;
    };
    auto spawner = [&]() -> awaitable<bool> {
        for (int wave = 0; wave < 20; ++wave) {
            for (int i = 0; i < 1000; ++i)
                tasks.spawn("tiny", tiny());
            const bool empty = co_await tasks.finished(clock_type::now() + 10s);
            if (!empty)
                co_return false;
        }
        co_return true;
    };
    EXPECT_TRUE(run(spawner()));
    EXPECT_EQ(ended, 20'000u);
}

TEST(task_group, may_go_before_its_tasks)
{
    asio::io_context context(1);
    int failures = 0;
    auto orphan = [&]() -> awaitable<void> {
        steady_timer timer(context.get_executor(), 1ms);
        co_await timer.async_wait(use_await);
    };
    {
        task_group tasks(context.get_executor());
        tasks.on_failure([&](std::string_view) { ++failures; });
        tasks.spawn("orphan", orphan());
    }
    context.run_for(10s);
    EXPECT_EQ(failures, 0);
}

TEST(task_group, tasks_may_go_with_their_context)
{
    auto context = std::make_unique<asio::io_context>(1);
    auto parked = [&]() -> awaitable<void> {
        steady_timer timer(context->get_executor(), 1h);
        co_await timer.async_wait(use_await);
    };
    task_group tasks(context->get_executor());
    tasks.spawn("parked", parked());
    context->poll();
    context.reset();
    EXPECT_EQ(tasks.size(), 1u);
}

}  // namespace
}  // namespace restante
