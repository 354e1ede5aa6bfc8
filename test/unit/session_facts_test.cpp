#include "storage/pq/session_facts.hpp"

#include <gmock/gmock.h>

namespace restante::pq {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const session_facts sound{.encoding = "UTF8", .fsync = "on", .full_page_writes = "on", .timeline = 1};

session_facts with_standby(std::string_view names, int needed, int there, int hidden = 0)
{
    auto facts = sound;
    facts.standby_names = names;
    facts.standbys_needed = needed;
    facts.standbys_there = there;
    facts.standbys_hidden = hidden;
    return facts;
}

TEST(session_facts, one_server_alone_is_safe)
{
    const auto verdict = judge_session(sound, {});
    EXPECT_THAT(verdict.fault, IsEmpty());
    EXPECT_THAT(verdict.wait, IsEmpty());
}

TEST(session_facts, commits_that_do_not_wait_for_a_named_standby_are_unsafe)
{
    auto facts = with_standby("n2", 1, 1);
    facts.commits_locally = true;
    EXPECT_THAT(judge_session(facts, {}).fault, HasSubstr("synchronous_commit is local"));
    facts.standby_names = "";
    EXPECT_THAT(judge_session(facts, {}).fault, IsEmpty()) << "there is nobody to wait for";
}

TEST(session_facts, a_cluster_must_be_synchronous_only_where_that_is_required)
{
    EXPECT_THAT(judge_session(sound, {.synchronous = true}).fault, HasSubstr("--require-synchronous"));
    EXPECT_THAT(judge_session(with_standby("n2", 1, 1), {.synchronous = true}).fault, IsEmpty());
}

TEST(session_facts, a_missing_standby_is_told_and_not_a_fault)
{
    const auto none = judge_session(with_standby("*", 1, 0), {.synchronous = true});
    EXPECT_THAT(none.fault, IsEmpty());
    EXPECT_THAT(none.wait, HasSubstr("wants 1 standby and 0 confirm"));
    const auto one = judge_session(with_standby("any 2 (a, b, c)", 2, 1), {});
    EXPECT_THAT(one.wait, HasSubstr("wants 2 standbys and 1 confirm"));
}

TEST(session_facts, a_standby_that_our_role_may_not_look_at_may_be_the_one)
{
    EXPECT_THAT(judge_session(with_standby("*", 1, 0, 1), {}).wait, IsEmpty());
}

TEST(session_facts, whoever_is_not_the_primary_says_so_before_anything_else)
{
    auto facts = sound;
    facts.fsync = "off";
    facts.standby = true;
    EXPECT_THAT(judge_session(facts, {}).fault, HasSubstr("standby"));
    EXPECT_TRUE(judge_session(facts, {}).primary_elsewhere);
    facts.standby = false;
    facts.read_only = true;
    EXPECT_TRUE(judge_session(facts, {}).primary_elsewhere);
    facts.read_only = false;
    EXPECT_THAT(judge_session(facts, {.replaced = true}).fault, HasSubstr("former primary"));
    EXPECT_TRUE(judge_session(facts, {.replaced = true}).primary_elsewhere);
    EXPECT_FALSE(judge_session(facts, {}).primary_elsewhere);
}

session_facts of_standby()
{
    auto facts = sound;
    facts.standby = true;
    facts.read_only = true;
    facts.cluster = 7;
    facts.timeline = 0;
    return facts;
}

TEST(session_facts, a_standby_is_sound_where_one_is_wanted)
{
    auto facts = of_standby();
    facts.fsync = "off";  // what it has is a copy
    const auto verdict = judge_session(facts, {.role = session_role::standby});
    EXPECT_THAT(verdict.fault, IsEmpty());
    EXPECT_FALSE(verdict.primary_elsewhere);
}

TEST(session_facts, a_standby_must_be_one_and_of_the_primarys_cluster)
{
    auto facts = of_standby();
    EXPECT_THAT(judge_session(facts, {.role = session_role::standby, .foreign = true}).fault,
                HasSubstr("another cluster"));
    facts.cluster = 0;
    EXPECT_THAT(judge_session(facts, {.role = session_role::standby}).fault, HasSubstr("hidden"));
    facts = of_standby();
    facts.standby = false;
    EXPECT_THAT(judge_session(facts, {.role = session_role::standby}).fault, HasSubstr("not a standby"));
    EXPECT_TRUE(judge_session(facts, {.role = session_role::standby}).primary_elsewhere)
        << "of several hosts the next one is tried";
}

}  // namespace
}  // namespace restante::pq
