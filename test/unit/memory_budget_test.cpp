#include "core/memory_budget.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace restante {
namespace {

uuid owner(unsigned char number)
{
    uuid made{};
    made.data[0] = number;
    return made;
}

TEST(fair_budget, one_alone_gets_half_and_the_next_a_share_of_the_rest)
{
    fair_budget budget(900);
    EXPECT_TRUE(budget.take(owner(1), 450));
    EXPECT_FALSE(budget.take(owner(1), 1));
    EXPECT_TRUE(budget.take(owner(2), 225));
    EXPECT_FALSE(budget.take(owner(2), 1));
    EXPECT_TRUE(budget.take(owner(3), 112));
    EXPECT_EQ(budget.used(), 450u + 225 + 112);
}

TEST(fair_budget, what_is_given_back_can_be_taken_again)
{
    fair_budget budget(1000);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(budget.take(owner(1), 500));
        EXPECT_FALSE(budget.has_room(owner(1), 1));
        EXPECT_TRUE(budget.has_room(owner(2), 250));
        budget.give(owner(1), 500);
        EXPECT_EQ(budget.used(), 0u);
    }
}

TEST(fair_budget, a_small_part_is_granted_however_crowded_it_is)
{
    fair_budget budget(6400);
    for (unsigned char i = 1; i <= 12; ++i)
        for (std::uint64_t bytes = 6400; bytes > 0; bytes /= 2)
            budget.take(owner(i), bytes);
    ASSERT_GT(budget.used(), 6200u);
    EXPECT_TRUE(budget.take(owner(100), 6400 - budget.used()));
    EXPECT_FALSE(budget.take(owner(101), 1));
}

TEST(fair_budget, refuses_what_no_number_can_hold)
{
    fair_budget budget(1000);
    EXPECT_TRUE(budget.take(owner(1), 10));
    EXPECT_FALSE(budget.take(owner(1), UINT64_MAX));
    EXPECT_FALSE(budget.has_room(owner(1), UINT64_MAX));
    EXPECT_EQ(budget.used(), 10u);
}

TEST(fair_budget, adds_up_with_many_threads)
{
    fair_budget budget(1'000'000);
    std::vector<std::thread> threads;
    for (unsigned char i = 0; i < 8; ++i)
        threads.emplace_back([&budget, i] {
            for (int round = 0; round < 5'000; ++round)
                if (budget.take(owner(i % 3), 100))
                    budget.give(owner(i % 3), 100);
        });
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(budget.used(), 0u);
    EXPECT_TRUE(budget.take(owner(1), 500'000));
}

TEST(memory_budget, strangers_together_get_an_eighth)
{
    memory_budget budget(800);
    EXPECT_TRUE(budget.take(memory_use::stranger, {}, 100));
    EXPECT_FALSE(budget.has_room(memory_use::stranger, {}, 1));
    EXPECT_FALSE(budget.take(memory_use::stranger, {}, 1));
    EXPECT_TRUE(budget.take(memory_use::body, owner(1), 350));
    EXPECT_EQ(budget.used(memory_use::stranger), 100u);
    EXPECT_EQ(budget.refusals(memory_use::stranger), 2u);
    EXPECT_EQ(budget.used(), 450u);
}

TEST(memory_budget, files_that_can_go_to_disk_leave_a_quarter_to_the_rest)
{
    memory_budget budget(800);
    for (unsigned char i = 1; i <= 20; ++i)
        for (const std::uint64_t bytes : {400u, 200u, 100u, 50u, 10u})
            budget.take(memory_use::spool, owner(i), bytes);
    EXPECT_LE(budget.used(memory_use::spool), 600u);
    EXPECT_GT(budget.used(memory_use::spool), 550u);
    EXPECT_TRUE(budget.take(memory_use::page, owner(100), 100));
}

TEST(memory_charge, holds_until_it_ends_and_can_be_handed_on)
{
    memory_budget budget(1000);
    {
        memory_charge charge(&budget, memory_use::page, owner(1));
        EXPECT_TRUE(charge.grow_to(300));
        EXPECT_TRUE(charge.grow_to(200));
        EXPECT_TRUE(charge.could_grow_to(500));
        EXPECT_FALSE(charge.grow_to(501));
        EXPECT_EQ(budget.used(memory_use::page), 300u);
        memory_charge other;
        other = std::move(charge);
        EXPECT_EQ(budget.used(), 300u);
        memory_charge third(std::move(other));
        third.release();
        EXPECT_EQ(budget.used(), 0u);
        EXPECT_TRUE(third.grow_to(10));
    }
    EXPECT_EQ(budget.used(), 0u);
    memory_charge unlimited;
    EXPECT_TRUE(unlimited.grow_to(1ull << 40));
}

}  // namespace
}  // namespace restante
