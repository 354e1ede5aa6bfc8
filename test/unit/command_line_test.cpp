#include "cli/command_line.hpp"

#include "cli/help.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sstream>

namespace restante {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using words = std::vector<std::string>;

constexpr const char* some_id = "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6";

parsed_command_line parse(const words& args)
{
    return parse_command_line(args, [](const std::string&) { return std::nullopt; });
}

command accepted(const words& args)
{
    auto parsed = parse(args);
    if (const auto* error = std::get_if<usage_error>(&parsed))
        ADD_FAILURE() << error->message;
    return std::get<command>(std::move(parsed));
}

std::string refused(const words& args)
{
    const auto parsed = parse(args);
    const auto* error = std::get_if<usage_error>(&parsed);
    return error ? error->message : "not refused";
}

std::string help(const words& args)
{
    const auto parsed = parse(args);
    const auto* out = std::get_if<help_request>(&parsed);
    return out ? out->text : "no help";
}

TEST(command_line, serve_takes_settings)
{
    const auto parsed = accepted({"serve", "--listen", "127.0.0.1:0", "--listen=[::1]:0", "--dev",
                                  "--threads=2", "--upload-ttl", "5m"});
    EXPECT_EQ(parsed.what, verb::serve);
    EXPECT_EQ(parsed.config.listen.size(), 2u);
    EXPECT_TRUE(parsed.config.dev);
    EXPECT_EQ(parsed.config.threads, 2u);
    EXPECT_EQ(parsed.config.upload_ttl, std::chrono::minutes(5));
}

TEST(command_line, a_switch_takes_a_value_only_with_an_equals_sign)
{
    EXPECT_FALSE(accepted({"serve", "--dev=false"}).config.dev);
    EXPECT_TRUE(accepted({"serve", "--dev", "--no-migrate"}).config.dev);
    EXPECT_THAT(refused({"serve", "--dev", "false"}), StartsWith("\"false\" is one argument too many."));
    EXPECT_THAT(refused({"serve", "--dev=maybe"}), StartsWith("--dev must be true or false"));
    EXPECT_THAT(refused({"migrate", "--dry-run=maybe"}), StartsWith("--dry-run takes no value"));
}

TEST(command_line, every_command_with_its_own_options)
{
    const auto migrate = accepted({"migrate", "--to", "3", "--dry-run", "--database-url", "x"});
    EXPECT_EQ(migrate.what, verb::migrate);
    EXPECT_EQ(migrate.own.to, 3u);
    EXPECT_TRUE(migrate.own.dry_run);
    EXPECT_EQ(migrate.config.database_url, "x");
    EXPECT_EQ(accepted({"migrate"}).own.to, std::nullopt);

    EXPECT_EQ(accepted({"sweep", "--ack-retention", "1s"}).config.ack_retention, std::chrono::seconds(1));
    const auto status = accepted({"status", "--json", "--watch"});
    EXPECT_TRUE(status.own.json && status.own.watch);

    const auto add =
        accepted({"workspace", "add", some_id, "--mode", "push", "--url", "https://x", "--name", "N"});
    EXPECT_EQ(add.what, verb::workspace_add);
    EXPECT_EQ(add.arguments, words{some_id});
    EXPECT_EQ(add.own.mode + add.own.url + add.own.name, "pushhttps://xN");
    EXPECT_EQ(accepted({"workspace", "add"}).own.mode, "poll");
    EXPECT_TRUE(accepted({"workspace", "add", "--json"}).arguments.empty());

    EXPECT_EQ(accepted({"workspace", "list", "--json"}).what, verb::workspace_list);
    EXPECT_EQ(accepted({"workspace", "remove", some_id}).what, verb::workspace_remove);
    EXPECT_EQ(accepted({"token", "issue", some_id}).what, verb::token_issue);
    EXPECT_EQ(accepted({"token", "list", "--json", some_id}).arguments, words{some_id});
    EXPECT_EQ(accepted({"token", "revoke", some_id, "t1"}).arguments, (words{some_id, "t1"}));
    EXPECT_EQ(accepted({"version"}).what, verb::version);
    EXPECT_EQ(accepted({"--version"}).what, verb::version);
}

TEST(command_line, unknown_flags_suggest_the_nearest)
{
    EXPECT_EQ(refused({"serve", "--treads", "2"}),
              "There is no flag \"--treads\"; did you mean --threads? See `restante serve --help`.");
    EXPECT_EQ(refused({"serve", "--entirely-else"}),
              "There is no flag \"--entirely-else\". See `restante serve --help`.");
    EXPECT_THAT(refused({"migrate", "--dryrun"}), HasSubstr("did you mean --dry-run?"));
    EXPECT_THAT(refused({"sweep", "--threads", "2"}), StartsWith("--threads is a setting of other commands"));
    EXPECT_EQ(refused({"sweep", "--json"}),
              "--json is an option of other commands, not of sweep. See `restante sweep --help`.");
    EXPECT_THAT(refused({"serve", "-x"}), HasSubstr("There is no flag \"-x\""));
    EXPECT_THAT(refused({"serve", "---dev"}), HasSubstr("did you mean --dev?"));
    EXPECT_THAT(refused({"serve", "--=x"}), HasSubstr("There is no flag \"--\""));
    EXPECT_THAT(refused({"serve", "-"}), HasSubstr("There is no flag \"-\""));
    EXPECT_THAT(refused({"version", "--dev"}), HasSubstr("--dev"));
}

TEST(command_line, an_admin_token_is_no_flag_and_is_not_repeated)
{
    const auto message = refused({"serve", "--admin-token=very-secret-token"});
    EXPECT_THAT(message, HasSubstr("did you mean --admin-token-file?"));
    EXPECT_EQ(message.find("very-secret"), std::string::npos);
}

TEST(command_line, two_dashes_end_the_flags)
{
    EXPECT_THAT(refused({"workspace", "add", "--", "--json"}),
                StartsWith("ID must be a UUID, but \"--json\""));
    EXPECT_EQ(accepted({"workspace", "add", "--json", "--", some_id}).arguments, words{some_id});
}

TEST(command_line, flags_are_never_abbreviated)
{
    EXPECT_THAT(refused({"serve", "--thread", "2"}), HasSubstr("There is no flag \"--thread\""));
}

TEST(command_line, a_missing_value_is_told_with_its_form)
{
    for (const auto& args :
         {words{"serve", "--listen"}, words{"serve", "--listen="}, words{"serve", "--listen", "--dev"}})
        EXPECT_EQ(refused(args), "--listen needs a value: --listen HOST:PORT. See `restante serve --help`.");
    EXPECT_THAT(refused({"serve", "--ack-retention", "-5s"}), HasSubstr("\"-5s\" was given"));
}

TEST(command_line, unknown_commands_suggest_the_nearest)
{
    EXPECT_EQ(refused({"serv"}), "There is no command \"serv\"; did you mean serve? See `restante --help`.");
    EXPECT_THAT(refused({"workspace", "ad"}),
                HasSubstr("did you mean workspace add? See `restante workspace --help`"));
    EXPECT_THAT(refused({"--listen", "x"}), HasSubstr("There is no command \"--listen\""));
    EXPECT_THAT(refused({"x\ny"}), HasSubstr("\"x?y\""));
    EXPECT_THAT(refused({""}), HasSubstr("There is no command"));
}

TEST(command_line, arguments_are_counted_and_checked)
{
    EXPECT_EQ(refused({"token", "issue"}),
              "WORKSPACE is missing. Usage: restante token issue WORKSPACE [OPTION]...");
    EXPECT_THAT(refused({"token", "revoke", some_id}), StartsWith("TOKEN_ID is missing."));
    EXPECT_THAT(refused({"workspace", "add", "laptop"}),
                StartsWith("ID must be a UUID, but \"laptop\" was given."));
    EXPECT_THAT(refused({"workspace", "list", some_id}), HasSubstr("one argument too many"));
    EXPECT_THAT(refused({"serve", "x"}), HasSubstr("one argument too many"));
    EXPECT_THAT(refused({"workspace", "add", "--mode", "pull"}), HasSubstr("poll or push"));
    EXPECT_THAT(refused({"workspace", "add", "--mode", "push"}), HasSubstr("needs --url"));
    EXPECT_EQ(refused({"token", "issue", some_id, "--scope", "reed"}),
              "--scope must be full, upload or read, but \"reed\" was given.");
    EXPECT_EQ(refused({"content", "move", "--to", "s4"}),
              "--to must be inline, directory or s3, but \"s4\" was given.");
    EXPECT_THAT(refused({"content", "move"}), StartsWith("--to STORE is missing"));
    EXPECT_EQ(refused({"content", "move", "--to", "s3", "--to=inline"}), "--to is given more than once.");
    EXPECT_EQ(refused({"serve", "--threads", "1", "--threads", "2"}), "--threads is given more than once.");
    EXPECT_THAT(refused({"workspace", "add", "--url", "x"}), HasSubstr("http://"));
    EXPECT_THAT(refused({"migrate", "--to", "-1"}), HasSubstr("from 0 to 9999"));
    EXPECT_EQ(accepted({"grant", "create", some_id, "--files", "20000"}).own.files, "20000");
}

TEST(command_line, bad_settings_are_usage_errors)
{
    EXPECT_THAT(refused({"serve", "--threads", "x"}), StartsWith("--threads must be"));
    EXPECT_EQ(usage_error::exit_code, 2);
}

TEST(command_line, help_can_be_asked_for_anywhere)
{
    for (const auto& args : {words{"--help"}, words{"-h"}, words{"help"}})
        EXPECT_EQ(help(args), general_help());
    EXPECT_EQ(refused({}), general_help());
    EXPECT_EQ(help({"serve", "--help"}), help({"help", "serve"}));
    EXPECT_EQ(help({"serve", "--nonsense", "-h"}), help({"help", "serve"}));
    EXPECT_EQ(help({"workspace", "--help"}), family_help("workspace"));
    EXPECT_EQ(help({"help", "workspace"}), family_help("workspace"));
    EXPECT_EQ(refused({"workspace"}), family_help("workspace"));
    EXPECT_THAT(help({"workspace", "add", "--help"}),
                StartsWith("Usage: restante workspace add [ID] [OPTION]..."));
}

TEST(help, fits_the_terminal)
{
    std::string all = general_help() + family_help("token");
    for (const auto& entry : verb_table())
        all += verb_help(entry);
    std::istringstream in(all);
    for (std::string line; std::getline(in, line);) {
        EXPECT_LE(line.size(), 100u) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
}

TEST(help, tells_every_option_of_a_command_and_no_other)
{
    const auto serve = help({"serve", "--help"});
    for (const auto& o : option_table())
        EXPECT_THAT(serve, HasSubstr("  --" + std::string(o.flag) +
                                     (o.value_name.empty() ? " " : " " + std::string(o.value_name))));
    EXPECT_THAT(serve, HasSubstr("[default 127.0.0.1:8080]"));
    EXPECT_THAT(serve, HasSubstr("[default 128MiB]"));
    EXPECT_THAT(serve, HasSubstr("Exit codes: 0 done, 1 failed"));
    EXPECT_THAT(serve, HasSubstr("RESTANTE_DATA_DIR"));

    const auto migrate = help({"migrate", "--help"});
    EXPECT_THAT(migrate, HasSubstr("--dry-run"));
    EXPECT_THAT(migrate, HasSubstr("--database-url URL"));
    EXPECT_EQ(migrate.find("--threads"), std::string::npos);
    // Commands take sizes and durations, too.
    EXPECT_THAT(help({"content", "move", "--help"}), HasSubstr("sizes in bytes or as 64KiB"));
}

TEST(help, lists_every_command)
{
    for (const auto& entry : verb_table())
        EXPECT_THAT(general_help(), HasSubstr("  " + std::string(entry.words)));
}

}  // namespace
}  // namespace restante
