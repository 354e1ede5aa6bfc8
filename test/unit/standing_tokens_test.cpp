#include "auth/standing_tokens.hpp"

#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

struct standing : ::testing::Test {
    standing()
    {
        agent.who.kind = principal_kind::workspace;
        agent.who.token = make_uuid_v4();
        agent.who.token_hash.fill(7);
        agent.who.workspace.id = make_uuid_v4();
        agent.inbound_secret = "s";
        known.apply({}, {}, time.now());
        known.keep(agent, known.current_epoch(), time.now());
    }

    bool is_known() { return known.find(agent.who.token_hash, time.now()) != nullptr; }
    void ask_again(std::vector<uuid> tokens = {}, std::vector<uuid> workspaces = {})
    {
        known.apply(tokens, workspaces, time.now());
    }

    fake_clock time;
    standing_tokens known;
    standing_tokens::holder agent;
};

TEST_F(standing, is_remembered_as_long_as_the_database_says_that_nothing_changed)
{
    for (int second = 0; second < 599; ++second) {
        ask_again();
        ASSERT_TRUE(is_known()) << second;
        time.advance(1s);
    }
    time.advance(1s);
    ask_again();
    EXPECT_FALSE(is_known()) << "it is looked up again every ten minutes";
}

TEST_F(standing, is_not_remembered_when_it_ends_by_itself)
{
    agent.who.token_hash.fill(8);
    agent.who.ends = true;
    known.keep(agent, known.current_epoch(), time.now());
    EXPECT_FALSE(is_known());
}

TEST_F(standing, is_not_trusted_five_seconds_after_the_last_word_of_the_database)
{
    time.advance(4999ms);
    EXPECT_TRUE(is_known());
    time.advance(1ms);
    EXPECT_FALSE(is_known());
    ask_again();
    EXPECT_TRUE(is_known());
}

TEST_F(standing, is_forgotten_after_a_silence_that_the_next_word_does_not_cover)
{
    time.advance(30s);
    ask_again();
    EXPECT_TRUE(is_known()) << "the answer covers a minute";
    const auto before = known.current_epoch();
    time.advance(30s + 1ms);
    ask_again();
    EXPECT_FALSE(is_known());
    known.keep(agent, before, time.now());
    EXPECT_FALSE(is_known()) << "it was looked up during the silence";
    known.keep(agent, known.current_epoch(), time.now());
    EXPECT_TRUE(is_known());
}

TEST_F(standing, is_forgotten_when_its_token_or_workspace_has_changed)
{
    ask_again({make_uuid_v4()}, {make_uuid_v4()});
    EXPECT_TRUE(is_known());
    ask_again({agent.who.token});
    EXPECT_FALSE(is_known());
    ask_again();
    EXPECT_FALSE(is_known());

    known.keep(agent, known.current_epoch(), time.now());
    ASSERT_TRUE(is_known());
    ask_again({}, {agent.who.workspace.id});
    EXPECT_FALSE(is_known());
}

TEST_F(standing, a_notice_holds_at_once_and_for_good)
{
    known.on_token_revoked(agent.who.token);
    EXPECT_FALSE(is_known());
    ask_again();
    EXPECT_FALSE(is_known());
    known.keep(agent, known.current_epoch(), time.now());
    ASSERT_TRUE(is_known());
    known.on_workspace_removed(agent.who.workspace.id);
    EXPECT_FALSE(is_known());
}

TEST_F(standing, what_was_looked_up_before_a_change_is_not_kept)
{
    const auto asked_at = known.current_epoch();
    known.on_token_revoked(agent.who.token);
    known.keep(agent, asked_at, time.now());
    ask_again();
    EXPECT_FALSE(is_known());

    const auto again = known.current_epoch();
    ask_again({agent.who.token});
    known.keep(agent, again, time.now());
    EXPECT_FALSE(is_known());
}

TEST_F(standing, any_number_of_notices_takes_bounded_memory)
{
    for (int i = 0; i < 10'001; ++i)
        known.on_workspace_changed(make_uuid_v4());
    EXPECT_FALSE(is_known()) << "rather all are forgotten";
    ask_again();
    EXPECT_FALSE(is_known());
}

}  // namespace
}  // namespace restante
