#include "client/token_command.hpp"
#include "client/token_facts.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

namespace restante::client {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* some_id = "0191d5a0-0000-7000-8000-000000000001";
constexpr const char* other_id = "0191d5a0-0000-7000-8000-000000000002";

TEST(client_token_command, its_output_is_taken_whatever_it_leaves_in_the_background)
{
    EXPECT_EQ(*run_token_command("echo one"), "one\n");
    EXPECT_EQ(*run_token_command("sleep 100 & echo two", 30s), "two\n");
    EXPECT_GT(run_token_command("yes")->size(), 1000u) << "what does not end is no token, and is not awaited";
}

TEST(client_token_command, a_failure_says_how_it_ended)
{
    const auto failed = run_token_command("echo x; exit 3");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().exit, exit_code::unauthorized);
    EXPECT_EQ(failed.error().code, "token_command_failed");
    EXPECT_EQ(failed.error().text, "The token command failed with exit code 3.");
    EXPECT_THAT(run_token_command("kill -9 $$").error().text, HasSubstr("signal 9"));
}

TEST(client_token_command, one_that_does_not_end_is_killed)
{
    test::temporary_directory folder;
    const auto pid_file = folder.path() / "pid";
    const auto late = run_token_command("echo $$ > " + pid_file.string() + "; exec sleep 1000", 300ms);
    ASSERT_FALSE(late);
    EXPECT_THAT(late.error().text, HasSubstr("was killed"));
    pid_t pid = 0;
    std::ifstream(pid_file) >> pid;
    ASSERT_GT(pid, 0);
    EXPECT_NE(::kill(pid, 0), 0);
}

token_facts facts(const std::string& scope, const std::string& workspace = some_id)
{
    return {.scope = scope, .workspace = workspace, .workspace_name = "", .expires_at = "", .left = ""};
}

TEST(client_token_facts, what_the_server_says_is_read)
{
    const auto told = parse_token_facts(
        R"({"scope":"grant","workspace_id":"0191D5A0-0000-7000-8000-000000000001","workspace_name":"lap\u001btop",)"
        R"("expires_at":"2030-01-01T00:00:00.000000Z","grant":{"left":{"requests":1,"files":5,"bytes":52428800}}})");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->workspace, some_id);
    EXPECT_EQ(told->left, "1 request, 5 files, 50.0 MiB");
    EXPECT_THAT(in_words(*told), HasSubstr("an upload grant: it sends files to workspace lap?top (0191d5a0"));
    EXPECT_THAT(in_words(*told),
                HasSubstr("until 2030-01-01T00:00:00.000000Z, 1 request, 5 files, 50.0 MiB are left"));
    EXPECT_TRUE(only_sends(*told));
    auto nameless = facts("upload");
    nameless.workspace_name = some_id;
    EXPECT_EQ(in_words(nameless),
              "This token sends files to workspace " + std::string(some_id) + "; it cannot pull.");
    const auto admin =
        parse_token_facts(R"({"scope":"admin","workspace_id":null,"expires_at":null,"grant":null})");
    ASSERT_TRUE(admin);
    EXPECT_EQ(admin->workspace, "");
    for (const auto* odd : {"", "<html>", "[]", "{}", R"({"scope":1})"})
        EXPECT_EQ(parse_token_facts(odd).error().code, "bad_answer") << odd;
}

TEST(client_token_facts, a_token_that_cannot_do_what_it_is_stored_for_is_refused)
{
    EXPECT_TRUE(check_token(facts("full"), some_id));
    EXPECT_TRUE(check_token(facts("full"), "")) << "it says itself whose it is";
    EXPECT_TRUE(check_token(facts("upload"), some_id));
    EXPECT_TRUE(check_token(facts("admin", ""), other_id));
    EXPECT_TRUE(check_token(facts("", ""), some_id)) << "an older server says nothing";
    EXPECT_EQ(check_token(facts("admin", ""), "").error().exit, exit_code::usage);
    const auto other = check_token(facts("full"), other_id);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, "wrong_workspace");
    EXPECT_EQ(other.error().text,
              "This is a token of workspace " + std::string(some_id) + ", not of " + other_id + '.');
    EXPECT_EQ(check_token(facts("read"), some_id).error().code, "insufficient_scope");
}

}  // namespace
}  // namespace restante::client
