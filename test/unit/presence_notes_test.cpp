#include "server/presence/presence_notes.hpp"

#include "server/presence/presence_policy.hpp"
#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

heartbeat beat_of(std::string task, double error_rate = 0, std::int64_t uptime = 0)
{
    heartbeat beat;
    beat.report.current_task = std::move(task);
    beat.report.error_rate = error_rate;
    beat.uptime_seconds = uptime;
    return beat;
}

struct presence : ::testing::Test {
    void beat(const heartbeat& what) { notes.note(a, time.now(), &what); }
    void poll() { notes.note(a, time.now()); }
    std::vector<presence_sign> take() { return notes.take(time.now()); }

    fake_clock time;
    presence_notes notes{presence_policy{}.stamp_interval()};
    const uuid a = make_uuid_v4();
    const uuid b = make_uuid_v4();
};

TEST_F(presence, an_agent_that_says_the_same_is_written_with_every_second_beat_and_stays_fresh)
{
    int written = 0;
    std::chrono::seconds stale{0}, most_stale{0};
    for (int second = 0; second < 1200; ++second) {
        if (second % 30 == 0)
            beat(beat_of("", 0, second));
        const auto signs = take();
        written += static_cast<int>(signs.size());
        stale = signs.empty() ? stale + 1s : duration_cast<std::chrono::seconds>(signs[0].age);
        most_stale = std::max(most_stale, stale);
        time.advance(1s);
    }
    EXPECT_EQ(written, 1200 / 60) << "no row a beat, of which 40 came";
    EXPECT_LT(most_stale, 90s) << "clients that read the last stamp allow so much";
}

// Whatever an agent's rhythm is.
TEST_F(presence, the_last_stamp_is_never_older_than_clients_allow)
{
    for (int every = 1; every <= 60; ++every) {
        int stale = 0;
        for (int second = 0; second < 1000; ++second) {
            if (second % every == 0)
                poll();
            const auto signs = take();
            stale = signs.empty() ? stale + 1 : static_cast<int>(signs[0].age / 1s);
            ASSERT_LE(stale, 66) << "a sign every " << every << " s";
            time.advance(1s);
        }
        time.advance(200s);
        take();
    }
}

TEST_F(presence, what_was_held_back_is_written_with_its_own_time_and_uptime)
{
    beat(beat_of("", 0, 100));
    EXPECT_EQ(take().size(), 1u);
    time.advance(30s);
    beat(beat_of("", 0, 130));
    EXPECT_TRUE(take().empty());
    time.advance(35s);
    const auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_EQ(signs[0].age, 35s);
    EXPECT_EQ(signs[0].uptime_seconds, 130);
    time.advance(65s);
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(notes.known(), 0u) << "a silent one is forgotten";
}

TEST_F(presence, a_changed_report_is_written_at_once)
{
    beat(beat_of("reading"));
    ASSERT_EQ(take().size(), 1u);
    time.advance(1s);
    beat(beat_of("writing"));
    const auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_EQ(signs[0].report->current_task, "writing");
    time.advance(1s);
    beat(beat_of("writing"));
    EXPECT_TRUE(take().empty());
}

TEST_F(presence, polls_are_held_back_too_and_say_nothing_of_tasks)
{
    poll();
    auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_FALSE(signs[0].report || signs[0].uptime_seconds);
    time.advance(5s);
    poll();
    EXPECT_TRUE(take().empty());
    beat(beat_of(""));
    EXPECT_EQ(take().size(), 1u) << "the first heartbeat after polls";
}

TEST_F(presence, several_signs_before_a_write_are_one)
{
    beat(beat_of("one"));
    poll();
    beat(beat_of("two"));
    const auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_EQ(signs[0].report->current_task, "two");
}

TEST_F(presence, what_could_not_be_written_is_tried_again_unless_something_newer_came)
{
    beat(beat_of("old", 0, 7));
    auto failed = take();
    time.advance(2s);
    notes.give_back(std::move(failed), time.now() - 2s);
    auto again = take();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].age, 2s);
    EXPECT_EQ(again[0].report->current_task, "old");

    beat(beat_of("new", 0, 9));
    notes.give_back(std::move(again), time.now());
    const auto newer = take();
    ASSERT_EQ(newer.size(), 1u);
    EXPECT_EQ(newer[0].age, 0s);
    EXPECT_EQ(newer[0].report->current_task, "new");
    EXPECT_EQ(newer[0].uptime_seconds, 9);
}

// The agent may have told another server something else in between, which never learns that it is over.
TEST_F(presence, a_beat_is_written_with_its_report_though_it_says_nothing_new_here)
{
    beat(beat_of("x"));
    take();
    time.advance(30s);
    beat(beat_of("x"));
    time.advance(35s);
    const auto held = take();
    ASSERT_EQ(held.size(), 1u);
    ASSERT_TRUE(held[0].report);
    EXPECT_EQ(held[0].report->current_task, "x");
    time.advance(60s);
    poll();
    const auto polled = take();
    ASSERT_EQ(polled.size(), 1u);
    EXPECT_FALSE(polled[0].report) << "a poll does not repeat what an earlier beat has said";
}

TEST_F(presence, after_a_registration_the_next_beat_is_written_whatever_it_says)
{
    beat(beat_of("x"));
    take();
    notes.on_workspace_changed(a);
    time.advance(1s);
    poll();
    EXPECT_TRUE(take().empty());
    beat(beat_of("x"));
    EXPECT_EQ(take().size(), 1u);
    beat(beat_of("x"));
    EXPECT_TRUE(take().empty());
}

TEST_F(presence, a_change_of_the_workspace_loses_no_sign_that_is_held)
{
    poll();
    take();
    time.advance(30s);
    poll();
    notes.on_workspace_changed(a);
    time.advance(35s);
    const auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_EQ(signs[0].age, 35s);
}

TEST_F(presence, what_was_given_back_and_found_no_place_is_written_with_the_next_sign)
{
    beat(beat_of("x"));
    auto failed = take();
    for (std::size_t i = 0; i < presence_notes::max_due; ++i)
        notes.note(make_uuid_v4(), time.now());
    notes.give_back(std::move(failed), time.now());
    take();
    beat(beat_of("x"));
    const auto signs = take();
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_EQ(signs[0].report->current_task, "x");
}

TEST_F(presence, the_texts_of_reports_are_bounded_too)
{
    const std::string long_task(512, 't');
    const auto enough = presence_notes::max_text / long_task.size() + 1;
    for (std::size_t i = 0; i < enough + 1000; ++i) {
        const auto said = beat_of(long_task);
        notes.note(make_uuid_v4(), time.now(), &said);
        if (i % 1000 == 0)
            take();
    }
    EXPECT_EQ(notes.known(), enough);
    take();
    beat(beat_of(""));
    beat(beat_of(""));
    EXPECT_EQ(take().size(), 1u);
    EXPECT_EQ(notes.known(), enough) << "beyond the limit, each is written";
    time.advance(65s);
    take();
    EXPECT_EQ(notes.known(), 0u);
    beat(beat_of(""));
    EXPECT_EQ(notes.known(), 1u) << "the forgotten ones have given their room back";
}

TEST_F(presence, memory_stays_bounded_whatever_comes)
{
    for (std::size_t i = 0; i < presence_notes::max_due + 5000; ++i)
        notes.note(make_uuid_v4(), time.now());
    EXPECT_EQ(take().size(), presence_notes::max_due);
    EXPECT_EQ(notes.known(), presence_notes::max_due) << "what was lost is not taken for written";
    for (std::size_t i = 0; i < presence_notes::max_known + 100; ++i) {
        notes.note(make_uuid_v4(), time.now());
        if (i % 5000 == 0)
            take();
    }
    EXPECT_EQ(notes.known(), presence_notes::max_known);
    take();
    poll();
    EXPECT_EQ(take().size(), 1u) << "beyond the limit, each is written";
    poll();
    EXPECT_EQ(take().size(), 1u);
}

TEST_F(presence, a_backlog_of_ended_windows_waits_for_the_next_write)
{
    beat(beat_of("x"));
    take();
    time.advance(1s);
    poll();
    for (std::size_t i = 0; i < presence_notes::max_due; ++i)
        notes.note(make_uuid_v4(), time.now());
    time.advance(65s);
    EXPECT_EQ(take().size(), presence_notes::max_due);
    const auto late = take();
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].workspace, a);
}

TEST(presence_policy, intervals_follow_the_timeout)
{
    const presence_policy usual;
    EXPECT_EQ(usual.stamp_interval(), 65s);
    EXPECT_EQ(usual.search_interval(), 15s);
    const presence_policy quick{.timeout = 2s};
    EXPECT_EQ(quick.stamp_interval(), 800ms);
    EXPECT_EQ(quick.search_interval(), 250ms);
}

}  // namespace
}  // namespace restante
