#include "postgres/process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

const account self{::geteuid(), ::getegid(), "", {}};

TEST(run_program, tells_success_and_output_of_both_streams)
{
    const auto out = run_program({"/bin/sh", "-c", "echo one; echo two >&2"}, self, 10s);
    ASSERT_TRUE(out.has_value());
    EXPECT_TRUE(out->succeeded);
    EXPECT_EQ(out->text, "one\ntwo\n");
}

TEST(run_program, tells_failure)
{
    const auto out = run_program({"/bin/sh", "-c", "exit 3"}, self, 10s);
    ASSERT_TRUE(out.has_value());
    EXPECT_FALSE(out->succeeded);
}

TEST(run_program, says_why_a_program_cannot_run)
{
    const auto out = run_program({"/nowhere/program"}, self, 10s);
    ASSERT_TRUE(out.has_value());
    EXPECT_FALSE(out->succeeded);
    EXPECT_EQ(out->text, "No such file or directory");
}

TEST(run_program, kills_what_does_not_end)
{
    const auto out = run_program({"/bin/sleep", "600"}, self, 50ms);
    ASSERT_TRUE(out.has_error());
    EXPECT_EQ(out.error().message, "/bin/sleep did not end in 0 s");
}

TEST(run_program, keeps_the_end_of_a_long_output)
{
    const auto out = run_program({"/bin/sh", "-c", "yes x | head -c 1000000; echo end"}, self, 10s);
    ASSERT_TRUE(out.has_value());
    EXPECT_LE(out->text.size(), 128u * 1024);
    EXPECT_TRUE(out->text.ends_with("end\n"));
}

TEST(run_program, hands_on_neither_descriptors_nor_environment_nor_place)
{
    const auto out = run_program({"/bin/sh", "-c", "ls /proc/self/fd | wc -l; echo $HOME; pwd"}, self, 10s);
    ASSERT_TRUE(out.has_value());
    // stdin, stdout, stderr and the descriptor that ls opens for the directory.
    EXPECT_EQ(out->text, "4\n/\n/\n");
}

TEST(process, a_child_that_was_killed_says_so)
{
    auto child = spawn({"/bin/sleep", "600"}, self, STDERR_FILENO);
    ASSERT_TRUE(child.has_value());
    EXPECT_TRUE(child->alive());
    EXPECT_FALSE(child->wait_for_end(1ms));

    child->send(SIGKILL);
    EXPECT_TRUE(child->wait_for_end(10s));
    EXPECT_FALSE(child->alive());
    EXPECT_FALSE(child->succeeded());
    EXPECT_EQ(child->how_it_ended(), "signal 9 (Killed)");
}

TEST(process, finds_one_that_it_did_not_start)
{
    auto found = process::find(::getppid());
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->alive());
}

TEST(process, does_not_find_one_that_is_gone)
{
    auto child = spawn({"/bin/true"}, self, STDERR_FILENO);
    ASSERT_TRUE(child.has_value());
    ASSERT_TRUE(child->wait_for_end(10s));
    EXPECT_FALSE(process::find(child->pid()).has_value());
}

}  // namespace
}  // namespace restante
