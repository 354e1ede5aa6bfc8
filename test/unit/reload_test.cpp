#include "cli/reload.hpp"

#include "cli/command_line.hpp"
#include "test/support/temporary_file.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const environment no_variables = [](const std::string&) { return std::nullopt; };

TEST(reload, the_same_settings_change_nothing)
{
    const auto change = compare_settings({}, {});
    EXPECT_THAT(change.applied, IsEmpty());
    EXPECT_THAT(change.needs_restart, IsEmpty());
}

TEST(reload, each_change_is_on_one_of_the_lists_and_only_one_is_taken_over)
{
    settings next;
    next.threads = 7;
    next.listen = {{"127.0.0.1", 1}};
    next.level = log_level::debug;
    next.workspace_max_files = 3;
    const auto change = compare_settings({}, next);
    EXPECT_THAT(change.applied, ElementsAre("log-level", "workspace-max-files"));
    EXPECT_THAT(change.needs_restart, ElementsAre("listen", "threads"));
    EXPECT_EQ(list_of(change.needs_restart), "listen, threads");

    const auto merged = with_reloaded({}, next);
    EXPECT_EQ(merged.level, log_level::debug);
    EXPECT_EQ(merged.workspace_max_files, 3u);
    EXPECT_EQ(merged.threads, 0u);
}

TEST(reload, a_new_token_in_the_same_file_is_a_change)
{
    settings now, next;
    now.admin_token_file = next.admin_token_file = "/etc/token";
    now.admin_token = "0123456789abcdef";
    next.admin_token = "fedcba9876543210";
    EXPECT_THAT(compare_settings(now, next).applied, ElementsAre("admin-token-file"));
    EXPECT_EQ(with_reloaded(now, next).admin_token, next.admin_token);
}

TEST(reload, what_the_contract_names_can_change)
{
    std::vector<std::string_view> changes;
    for (const auto& o : option_table())
        if (o.reloads)
            changes.push_back(o.flag);
    EXPECT_THAT(changes, ElementsAre("log-level", "tls-cert", "tls-key", "allowed-origin", "admin-token-file",
                                     "registration", "workspace-max-bytes", "workspace-max-files"));
}

TEST(reload, the_command_line_is_read_again_with_the_file_as_it_is_now)
{
    const temporary_file before("registration = admin\n");
    const std::vector<std::string> args{"serve", "--config", before.path(), "--threads", "3"};
    const auto read = read_settings_again(args, no_variables);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->registration, registration_policy::admin);
    EXPECT_EQ(read->threads, 3u);

    const temporary_file after("registration = anybody\n");
    const std::vector<std::string> wrong{"serve", "--config", after.path()};
    const auto refused = read_settings_again(wrong, no_variables);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("registration in " + after.path()));
}

}  // namespace
}  // namespace restante
