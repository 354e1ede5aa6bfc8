#include "storage/group_commit.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using verdict = group_commit::verdict;
using namespace std::chrono_literals;

class group_commits : public ::testing::Test {
protected:
    group_commit::request request(const uuid& workspace, std::uint64_t bytes = 100)
    {
        return {.who = next_++, .workspace = workspace, .bytes = bytes};
    }

    // Takes every place for a transaction, with requests of other workspaces.
    std::vector<group_commit::request> fill(group_commit& queue, unsigned transactions = 2)
    {
        std::vector<group_commit::request> leaders;
        for (unsigned i = 0; i < transactions; ++i) {
            leaders.push_back(request(make_uuid_v4()));
            EXPECT_EQ(queue.join(leaders.back(), now_), verdict::lead);
            EXPECT_EQ(queue.form_group(leaders.back(), now_).size(), 1u);
        }
        return leaders;
    }

    std::vector<group_commit::request> wait(group_commit& queue, const uuid& workspace, std::size_t count)
    {
        std::vector<group_commit::request> waiting;
        for (std::size_t i = 0; i < count; ++i) {
            waiting.push_back(request(workspace));
            EXPECT_EQ(queue.join(waiting.back(), now_), verdict::wait);
        }
        return waiting;
    }

    const uuid a = make_uuid_v4();
    const uuid b = make_uuid_v4();
    const uuid c = make_uuid_v4();
    group_commit::clock::time_point now_{};
    group_commit::ticket next_ = 1;
};

TEST_F(group_commits, nobody_waits_while_a_transaction_may_start)
{
    group_commit queue({.transactions = 2});
    const auto first = request(a);
    EXPECT_EQ(queue.join(first, now_), verdict::lead);
    EXPECT_EQ(queue.join(request(a), now_), verdict::lead);
    EXPECT_EQ(queue.join(request(a), now_), verdict::wait);
    EXPECT_EQ(queue.under_way(), 2u);
}

TEST_F(group_commits, the_first_in_the_queue_leads_the_next_and_takes_the_others_along)
{
    group_commit queue({.transactions = 1});
    const auto running = fill(queue, 1);
    const auto first = request(a), second = request(b), third = request(c);
    for (const auto& each : {first, second, third})
        EXPECT_EQ(queue.join(each, now_), verdict::wait);
    EXPECT_EQ(queue.next_leader(now_), std::nullopt);
    queue.finish(running[0]);
    EXPECT_EQ(queue.next_leader(now_), first.who);
    EXPECT_EQ(queue.form_group(first, now_), (std::vector{first.who, second.who, third.who}));
    EXPECT_EQ(queue.waiting(), 0u);
    EXPECT_EQ(queue.next_leader(now_), std::nullopt);
}

TEST_F(group_commits, a_group_is_limited_in_members_and_bytes)
{
    group_commit queue({.transactions = 1, .members = 3, .bytes = 1000});
    const auto running = fill(queue, 1);
    const auto leader = request(a, 2000);
    const auto small = request(b, 100);
    EXPECT_EQ(queue.join(leader, now_), verdict::wait);
    EXPECT_EQ(queue.join(small, now_), verdict::wait);
    queue.finish(running[0]);
    EXPECT_EQ(queue.next_leader(now_), leader.who);
    EXPECT_EQ(queue.form_group(leader, now_).size(), 1u) << "the leader alone has more than a group may";
    wait(queue, c, 5);
    queue.finish(leader);
    EXPECT_EQ(queue.next_leader(now_), small.who);
    EXPECT_EQ(queue.form_group(small, now_).size(), 3u);
}

TEST_F(group_commits, workspaces_take_turns)
{
    group_commit queue({.transactions = 1, .members = 4});
    const auto running = fill(queue, 1);
    const auto many = wait(queue, a, 20);
    const auto one = wait(queue, b, 1)[0];
    const auto other = wait(queue, c, 1)[0];
    queue.finish(running[0]);
    EXPECT_EQ(queue.next_leader(now_), many[0].who);
    EXPECT_EQ(queue.form_group(many[0], now_), (std::vector{many[0].who, one.who, other.who, many[1].who}));
}

TEST_F(group_commits, one_workspace_may_fill_only_part_of_the_queue)
{
    group_commit queue({.transactions = 1, .waiting = 10, .waiting_each = 4});
    fill(queue, 1);
    wait(queue, a, 4);
    EXPECT_EQ(queue.join(request(a), now_), verdict::refuse);
    wait(queue, b, 4);
    wait(queue, c, 2);
    EXPECT_EQ(queue.join(request(make_uuid_v4()), now_), verdict::refuse);
}

TEST_F(group_commits, a_locked_workspace_keeps_nobody_else_waiting)
{
    group_commit queue({.transactions = 1, .isolation = 10s});
    queue.isolate(a, now_);
    const auto blocked = request(a);
    EXPECT_EQ(queue.join(blocked, now_), verdict::lead) << "beside the others, not among them";
    const auto behind = wait(queue, a, 2);
    const auto other = request(b);
    EXPECT_EQ(queue.join(other, now_), verdict::lead);
    const auto waiting = wait(queue, c, 1)[0];
    queue.finish(other);
    EXPECT_EQ(queue.next_leader(now_), waiting.who) << "isolated requests are passed over";
    EXPECT_EQ(queue.form_group(waiting, now_), std::vector{waiting.who});
    EXPECT_EQ(queue.next_leader(now_), std::nullopt);
    queue.finish(blocked);
    EXPECT_EQ(queue.next_leader(now_), behind[0].who);
    EXPECT_EQ(queue.form_group(behind[0], now_), (std::vector{behind[0].who, behind[1].who}));
}

TEST_F(group_commits, isolation_ends_with_time_or_with_a_success)
{
    group_commit queue({.transactions = 1, .isolation = 10s});
    const auto running = fill(queue, 1);
    queue.isolate(a, now_);
    queue.isolate(b, now_);
    queue.release(b);
    EXPECT_EQ(queue.join(request(b), now_), verdict::wait);
    now_ += 10s;
    EXPECT_EQ(queue.join(request(a), now_), verdict::wait);
}

TEST_F(group_commits, a_request_that_gives_up_leaves_the_queue)
{
    group_commit queue({.transactions = 1});
    const auto running = fill(queue, 1);
    const auto waiting = wait(queue, a, 2);
    EXPECT_TRUE(queue.leave(waiting[0].who));
    EXPECT_FALSE(queue.leave(waiting[0].who));
    EXPECT_FALSE(queue.leave(running[0].who)) << "it leads";
    queue.finish(running[0]);
    EXPECT_EQ(queue.next_leader(now_), waiting[1].who);
    EXPECT_FALSE(queue.leave(waiting[1].who));
}

}  // namespace
}  // namespace restante
