#include "server/events/event_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace restante {
namespace {

shared_event numbered(std::int64_t seq)
{
    return std::make_shared<const event>(event{seq, {}, {}});
}

using numbers = std::vector<std::int64_t>;

class ordering_events : public ::testing::Test {
protected:
    numbers taken()
    {
        numbers seqs;
        for (const auto& each : ready)
            seqs.push_back(each->seq);
        ready.clear();
        return seqs;
    }
    void offer(std::int64_t seq) { order.offer(numbered(seq), ready); }
    void accept(std::int64_t seq) { order.accept(numbered(seq), ready); }

    event_order order;
    event_order::events ready;
};

TEST_F(ordering_events, what_follows_the_head_is_handed_out)
{
    order.open_at(5, ready);
    for (const int seq : {4, 5, 6, 7})
        offer(seq);
    EXPECT_EQ(taken(), (numbers{6, 7}));
    EXPECT_FALSE(order.behind());
}

TEST_F(ordering_events, commits_that_overtake_each_other_are_put_right)
{
    order.open_at(0, ready);
    offer(2);
    offer(3);
    EXPECT_EQ(taken(), numbers{});
    EXPECT_TRUE(order.behind());
    offer(1);
    EXPECT_EQ(taken(), (numbers{1, 2, 3}));
    EXPECT_FALSE(order.behind());
}

TEST_F(ordering_events, nothing_is_lost_while_the_head_is_asked_for)
{
    offer(6);
    offer(7);
    EXPECT_FALSE(order.behind());
    order.open_at(5, ready);
    EXPECT_EQ(taken(), (numbers{6, 7}));
    order.open_at(1, ready);  // the result of a second query comes too late to matter
    EXPECT_EQ(order.last(), 7);
}

TEST_F(ordering_events, what_the_head_already_holds_is_not_new)
{
    offer(4);
    offer(5);
    order.open_at(5, ready);
    EXPECT_EQ(taken(), numbers{});
}

TEST_F(ordering_events, rows_of_others_are_read_between_ours)
{
    order.open_at(0, ready);
    offer(1);
    offer(4);
    order.note_head(4);
    EXPECT_TRUE(order.behind());
    EXPECT_EQ(order.last(), 1);
    for (const int seq : {2, 3, 4})
        accept(seq);
    EXPECT_EQ(taken(), (numbers{1, 2, 3, 4}));
    EXPECT_FALSE(order.behind());
}

TEST_F(ordering_events, a_number_that_the_database_lacks_is_gone)
{
    order.open_at(0, ready);
    order.note_head(9);
    accept(5);
    offer(6);
    EXPECT_EQ(taken(), (numbers{5, 6}));
    order.nothing_up_to(9, ready);
    EXPECT_FALSE(order.behind());
    offer(10);
    EXPECT_EQ(taken(), (numbers{10}));
}

TEST_F(ordering_events, holds_only_so_many)
{
    order.open_at(0, ready);
    const auto last = static_cast<std::int64_t>(event_order::max_held) + 100;
    for (std::int64_t seq = 2; seq <= last; ++seq)
        offer(seq);
    offer(1);
    EXPECT_EQ(taken().size(), event_order::max_held + 1);
    EXPECT_TRUE(order.behind());
    EXPECT_EQ(order.known(), last);
}

TEST_F(ordering_events, holds_only_so_many_bytes)
{
    order.open_at(0, ready);
    const std::string half(event_order::max_held_bytes / 2, 'x');
    for (const int seq : {2, 3, 4})
        order.offer(std::make_shared<const event>(event{seq, {}, half}), ready);
    offer(1);
    EXPECT_EQ(taken(), (numbers{1, 2, 3}));
    EXPECT_TRUE(order.behind()) << "the fourth is read again";
    // What was handed out makes room.
    for (const int seq : {6, 7})
        order.offer(std::make_shared<const event>(event{seq, {}, half}), ready);
    for (const int seq : {4, 5})
        accept(seq);
    EXPECT_EQ(taken(), (numbers{4, 5, 6, 7}));
}

TEST_F(ordering_events, a_restart_gives_its_bytes_back)
{
    const std::string whole(event_order::max_held_bytes, 'x');
    order.open_at(0, ready);
    order.offer(std::make_shared<const event>(event{5, {}, whole}), ready);
    order.restart_at(1);
    order.offer(std::make_shared<const event>(event{3, {}, whole}), ready);
    offer(2);
    EXPECT_EQ(taken(), (numbers{2, 3}));
}

TEST_F(ordering_events, counts_on_from_an_older_backup)
{
    order.open_at(100, ready);
    order.restart_at(40);
    offer(41);
    EXPECT_EQ(taken(), (numbers{41}));
}

// Every row arrives as a commit, is read from the database, or both, in every possible order.
TEST_F(ordering_events, any_interleaving_gives_each_row_once_and_in_order)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        event_order mixed;
        event_order::events out;
        mixed.open_at(0, out);
        numbers commits(100);
        std::iota(commits.begin(), commits.end(), 1);
        for (std::size_t i = 0; i + 4 < commits.size(); ++i)
            std::swap(commits[i], commits[i + random() % 4]);
        std::int64_t committed = 0;
        for (const auto seq : commits) {
            committed = std::max(committed, seq);
            if (random() % 3 != 0)
                mixed.offer(numbered(seq), out);
            else
                mixed.note_head(seq);
            if (random() % 5 == 0)
                for (auto next = mixed.last() + 1; next <= committed - 4; ++next)
                    mixed.accept(numbered(next), out);
        }
        for (auto next = mixed.last() + 1; next <= 100; ++next)
            mixed.accept(numbered(next), out);
        ASSERT_EQ(out.size(), 100u);
        for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(out[i]->seq, static_cast<std::int64_t>(i) + 1);
    }
}

}  // namespace
}  // namespace restante
