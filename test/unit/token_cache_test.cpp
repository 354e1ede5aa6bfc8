#include "auth/token_cache.hpp"

#include "auth/token.hpp"
#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::chrono_literals;

class token_cache_test : public ::testing::Test {
protected:
    static digest32 hash(int n) { return hash_token("token " + std::to_string(n)); }
    static token_owner owner_of(int n, uuid workspace)
    {
        return {.hash = hash(n), .token = make_uuid_v4(), .workspace = {.id = workspace}};
    }
    token_owner keep(int n, uuid workspace)
    {
        const auto owner = owner_of(n, workspace);
        cache.keep(owner.hash, owner, cache.current_epoch(), time.now());
        return owner;
    }
    void keep_wrong(int n) { cache.keep(hash(n), std::nullopt, cache.current_epoch(), time.now()); }
    bool is_right(int n) { return std::holds_alternative<token_owner>(cache.find(hash(n), time.now())); }
    bool is_wrong(int n)
    {
        return std::holds_alternative<token_cache::wrong>(cache.find(hash(n), time.now()));
    }

    fake_clock time;
    token_cache cache;
    const uuid a = make_uuid_v4();
    const uuid b = make_uuid_v4();
};

TEST_F(token_cache_test, knows_nothing_at_first)
{
    EXPECT_FALSE(is_right(1));
    EXPECT_FALSE(is_wrong(1));
    EXPECT_FALSE(cache.find_workspace(a, time.now()));
}

TEST_F(token_cache_test, a_right_token_is_known_for_less_than_five_seconds)
{
    const auto kept = keep(1, a);
    time.advance(4999ms);
    ASSERT_TRUE(is_right(1));
    EXPECT_EQ(std::get<token_owner>(cache.find(hash(1), time.now())).token, kept.token);
    time.advance(1ms);
    EXPECT_FALSE(is_right(1));
}

TEST_F(token_cache_test, a_token_that_ends_by_itself_is_asked_for_again)
{
    auto owner = owner_of(1, a);
    owner.life_left = 2s;
    cache.keep(owner.hash, owner, cache.current_epoch(), time.now());
    time.advance(1999ms);
    EXPECT_TRUE(is_right(1));
    time.advance(1ms);
    EXPECT_FALSE(is_right(1) || is_wrong(1)) << "the database's clock decides, not this one";
    owner.life_left = 1h;
    cache.keep(owner.hash, owner, cache.current_epoch(), time.now());
    time.advance(5s);
    EXPECT_FALSE(is_right(1)) << "a long life does not make a long memory";
}

TEST_F(token_cache_test, use_does_not_prolong_a_life)
{
    keep(1, a);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(is_right(1));
        time.advance(1s);
    }
    EXPECT_FALSE(is_right(1));
}

TEST_F(token_cache_test, a_wrong_token_is_known_for_less_than_a_second)
{
    keep_wrong(1);
    time.advance(999ms);
    EXPECT_TRUE(is_wrong(1));
    time.advance(1ms);
    EXPECT_FALSE(is_wrong(1));
}

TEST_F(token_cache_test, a_token_that_became_right_is_no_longer_wrong)
{
    keep_wrong(1);
    keep(1, a);
    EXPECT_TRUE(is_right(1));
    time.advance(2s);
    EXPECT_TRUE(is_right(1));
}

TEST_F(token_cache_test, a_revoked_token_is_forgotten_and_its_siblings_are_not)
{
    const auto first = keep(1, a);
    keep(2, a);
    cache.forget_token(first.token);
    EXPECT_FALSE(is_right(1));
    EXPECT_TRUE(is_right(2));
}

TEST_F(token_cache_test, a_workspace_is_forgotten_with_all_its_tokens)
{
    keep(1, a);
    keep(2, a);
    keep(3, b);
    cache.keep_workspace({.id = a}, cache.current_epoch(), time.now());
    cache.keep_workspace({.id = b}, cache.current_epoch(), time.now());
    cache.forget_workspace(a);
    EXPECT_FALSE(is_right(1));
    EXPECT_FALSE(is_right(2));
    EXPECT_TRUE(is_right(3));
    EXPECT_FALSE(cache.find_workspace(a, time.now()));
    EXPECT_TRUE(cache.find_workspace(b, time.now()));
}

TEST_F(token_cache_test, an_answer_asked_for_before_a_revocation_is_not_kept)
{
    const auto asked_at = cache.current_epoch();
    cache.forget_token(make_uuid_v4());
    const auto late = owner_of(1, a);
    cache.keep(late.hash, late, asked_at, time.now());
    cache.keep_workspace({.id = a}, asked_at, time.now());
    EXPECT_FALSE(is_right(1));
    EXPECT_FALSE(cache.find_workspace(a, time.now()));
}

TEST_F(token_cache_test, never_holds_more_than_ten_thousand_and_drops_the_oldest)
{
    for (int i = 0; i < 12'000; ++i)
        keep(i, a);
    for (int i = 20'000; i < 22'000; ++i)
        keep_wrong(i);
    EXPECT_EQ(cache.size(), 10'000u);
    EXPECT_FALSE(is_right(2'999));
    EXPECT_TRUE(is_right(3'000));
    EXPECT_FALSE(is_wrong(20'999));
    EXPECT_TRUE(is_wrong(21'000));
}

TEST_F(token_cache_test, a_flood_of_wrong_tokens_pushes_no_right_one_out)
{
    keep(1, a);
    for (int i = 100; i < 20'100; ++i)
        keep_wrong(i);
    EXPECT_TRUE(is_right(1));
}

TEST_F(token_cache_test, what_has_expired_makes_room)
{
    for (int i = 0; i < 9'000; ++i)
        keep(i, a);
    time.advance(5s);
    keep(10'000, a);
    EXPECT_EQ(cache.size(), 1u);
}

}  // namespace
}  // namespace restante
