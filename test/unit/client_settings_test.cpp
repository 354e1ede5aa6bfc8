#include "client/command_line.hpp"
#include "client/login_files.hpp"
#include "client/options.hpp"
#include "client/token.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sys/stat.h>

namespace restante::client {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* some_id = "0191d5a0-0000-7000-8000-000000000001";
constexpr const char* other_id = "0191d5a0-0000-7000-8000-000000000002";

struct user {
    test::temporary_directory home;
    std::map<std::string, std::string> variables;

    user() { variables["HOME"] = home.path(); }

    void write_conf(const std::string& text)
    {
        std::filesystem::create_directories(home.path() / ".config/restante");
        std::ofstream(home.path() / ".config/restante/client.conf") << text;
    }

    environment env() const
    {
        return [this](const std::string& name) -> std::optional<std::string> {
            const auto at = variables.find(name);
            return at == variables.end() ? std::nullopt : std::optional(at->second);
        };
    }

    parsed_command_line parse(std::vector<std::string> words) const
    {
        return parse_command_line("restante", words, env());
    }
    settings load(std::vector<std::string> words) const { return std::get<command>(parse(words)).config; }
    std::string refusal(std::vector<std::string> words) const
    {
        const auto parsed = parse(words);
        const auto* wrong = std::get_if<failure>(&parsed);
        return wrong && wrong->exit == exit_code::usage ? wrong->text : "not refused";
    }
};

TEST(client_settings, a_flag_beats_the_environment_which_beats_the_file)
{
    user somebody;
    somebody.write_conf("server = https://file.example\nparallel = 2\nworkspace = " + std::string(some_id) +
                        "\nexec-timeout = 5s # a comment\n");
    EXPECT_EQ(somebody.load({"pull"}).server, "https://file.example");
    EXPECT_EQ(somebody.load({"pull"}).exec_timeout, 5s);
    somebody.variables["RESTANTE_SERVER"] = "https://variable.example";
    somebody.variables["RESTANTE_PARALLEL"] = "3";
    EXPECT_EQ(somebody.load({"pull"}).server, "https://variable.example");
    EXPECT_EQ(somebody.load({"pull"}).parallel, 3u);
    const auto flagged = somebody.load({"pull", "--server", "https://flag.example/base/", "--parallel=4"});
    EXPECT_EQ(flagged.url.origin.host, "flag.example");
    EXPECT_EQ(flagged.url.path, "/base");
    EXPECT_EQ(flagged.parallel, 4u);
    EXPECT_EQ(flagged.workspace, some_id);
}

TEST(client_settings, the_places_follow_xdg_and_ignore_relative_ones)
{
    user somebody;
    const auto home = somebody.home.path().string();
    EXPECT_EQ(find_places(somebody.env())->state, home + "/.local/state/restante");
    somebody.variables["XDG_STATE_HOME"] = "relative";
    EXPECT_EQ(find_places(somebody.env())->state, home + "/.local/state/restante");
    somebody.variables["XDG_STATE_HOME"] = "/var/elsewhere";
    EXPECT_EQ(find_places(somebody.env())->state, "/var/elsewhere/restante");
    somebody.variables.erase("HOME");
    EXPECT_FALSE(find_places(somebody.env()));
}

TEST(client_settings, what_is_wrong_is_said_in_a_sentence)
{
    user somebody;
    EXPECT_THAT(somebody.refusal({"pull"}), HasSubstr("`restante login`"));
    const auto parsed =
        parse_command_line("restante-client", std::vector<std::string>{"pull"}, somebody.env());
    EXPECT_THAT(std::get<failure>(parsed).text, HasSubstr("`restante-client login`"));
    EXPECT_THAT(somebody.refusal({"pull", "--workspace", "me"}), HasSubstr("must be a UUID"));
    EXPECT_THAT(somebody.refusal({"pull", "--server", "ftp://x", "--workspace", some_id}),
                HasSubstr("--server"));
    EXPECT_THAT(somebody.refusal({"pull", "--paralel", "3"}), HasSubstr("did you mean --parallel"));
    EXPECT_THAT(somebody.refusal({"pull", "--parallel", "0", "--workspace", some_id}),
                HasSubstr("from 1 to 64"));
    EXPECT_THAT(somebody.refusal({"pull", "--into"}), HasSubstr("--into DIR"));
    EXPECT_THAT(somebody.refusal({"pull", "x"}), HasSubstr("too many"));
    EXPECT_THAT(somebody.refusal({"send"}), HasSubstr("FILE is missing"));
    EXPECT_THAT(somebody.refusal({"send", "-", "-"}), HasSubstr("only once"));
    EXPECT_THAT(somebody.refusal({"send", "x", "y", "--name", "z"}), HasSubstr("2 are given"));
    EXPECT_THAT(somebody.refusal({"send", "x", "--to", some_id, "--wait", "seen"}), HasSubstr("--wait"));
    EXPECT_THAT(somebody.refusal({"pul"}), HasSubstr("did you mean pull"));
    EXPECT_THAT(somebody.refusal({"pull", "--token", "secret"}),
                HasSubstr("never given on the command line"));
    somebody.write_conf("serer = x\n");
    EXPECT_THAT(somebody.refusal({"pull"}), HasSubstr("did you mean server"));
}

TEST(client_settings, send_goes_to_its_own_workspace_unless_told_otherwise)
{
    user somebody;
    somebody.variables["RESTANTE_WORKSPACE"] = some_id;
    EXPECT_EQ(somebody.load({"send", "a", "--", "--b"}).to, some_id);
    EXPECT_EQ(somebody.load({"send", "a", "--to", other_id}).to, other_id);
    EXPECT_EQ(std::get<command>(somebody.parse({"send", "a", "--", "--b"})).files.at(1), "--b");
}

TEST(client_settings, an_id_has_one_form_whatever_its_letters_are)
{
    user somebody;
    somebody.variables["RESTANTE_WORKSPACE"] = "0191D5A0-0000-7000-8000-000000000001";
    EXPECT_EQ(somebody.load({"pull"}).workspace, some_id);
    EXPECT_EQ(somebody.load({"send", "a"}).to, some_id);
    EXPECT_EQ(somebody.load({"send", "a", "--to", "0191D5a0-0000-7000-8000-000000000002"}).to, other_id);
}

TEST(client_settings, a_path_may_begin_at_home)
{
    user somebody;
    somebody.write_conf("workspace = " + std::string(some_id) + "\ninto = ~/inbox\ntoken-file = ~/t\n");
    const auto home = somebody.home.path().string();
    EXPECT_EQ(somebody.load({"pull"}).into, home + "/inbox");
    EXPECT_EQ(somebody.load({"pull"}).token_file, home + "/t");
    EXPECT_EQ(somebody.load({"pull", "--ca-file=~/ca.pem"}).ca_file, home + "/ca.pem");
    EXPECT_EQ(somebody.load({"pull", "--into", "~other/x"}).into, "~other/x");
}

TEST(client_settings, a_file_that_cannot_be_reached_is_not_passed_over)
{
    user somebody;
    std::filesystem::create_directories(somebody.home.path() / ".config/restante");
    std::filesystem::create_symlink("client.conf", somebody.home.path() / ".config/restante/client.conf");
    EXPECT_THAT(somebody.refusal({"pull", "--workspace", some_id}), HasSubstr("client.conf"));
}

TEST(client_settings, the_stronger_source_of_a_token_wins)
{
    user somebody;
    somebody.write_conf("workspace = " + std::string(some_id) + "\ntoken-file = /file\n");
    EXPECT_EQ(somebody.load({"pull"}).token_file, "/file");
    const auto flagged = somebody.load({"pull", "--token-command", "pass"});
    EXPECT_EQ(flagged.token_file + '|' + flagged.token_command, "|pass");
    somebody.variables["RESTANTE_TOKEN"] = "abc";
    EXPECT_EQ(somebody.load({"pull"}).token, "abc");
    EXPECT_EQ(somebody.load({"pull"}).token_file, "");
    EXPECT_EQ(somebody.load({"pull", "--token-file", "/f"}).token, "");
    EXPECT_THAT(somebody.refusal({"pull", "--token-file", "a", "--token-command", "b"}),
                HasSubstr("only one"));
}

TEST(client_settings, login_does_not_read_what_it_is_about_to_write)
{
    user somebody;
    somebody.write_conf("nonsense\n");
    EXPECT_TRUE(somebody.load({"login", "--register"}).register_workspace);
}

TEST(client_settings, help_has_two_examples_for_each_command)
{
    user somebody;
    for (const auto* word : {"pull", "send", "login"}) {
        const auto parsed = somebody.parse({word, "--help"});
        const auto& text = std::get<help_request>(parsed).text;
        EXPECT_THAT(text, HasSubstr("Usage: restante " + std::string(word)));
        std::size_t examples = 0;
        for (auto at = text.find("restante " + std::string(word) + " "); at != std::string::npos;
             at = text.find("restante " + std::string(word) + " ", at + 1))
            ++examples;
        EXPECT_EQ(examples, 3u) << "the usage line and two examples";
        EXPECT_THAT(text, HasSubstr("Exit codes"));
    }
}

TEST(client_settings, only_client_commands_are_claimed)
{
    const auto claims = [](std::vector<std::string> words) { return is_client_command(words); };
    EXPECT_TRUE(claims({"pull"}));
    EXPECT_TRUE(claims({"help", "send"}));
    EXPECT_FALSE(claims({"serve"}));
    EXPECT_FALSE(claims({"help"}));
    EXPECT_FALSE(claims({}));
}

TEST(client_token, a_file_that_others_can_read_is_refused)
{
    test::temporary_directory folder;
    const auto path = (folder.path() / "token").string();
    std::ofstream(path) << "abc123\n";
    ::chmod(path.c_str(), 0640);
    ASSERT_FALSE(read_token_file(path));
    EXPECT_THAT(read_token_file(path).error().text, HasSubstr("chmod 600"));
    ::chmod(path.c_str(), 0600);
    EXPECT_EQ(*read_token_file(path), "abc123");
    std::ofstream(path) << "two words\n";
    EXPECT_FALSE(read_token_file(path));
    EXPECT_FALSE(read_token_file(path + "-absent"));
}

TEST(client_token, a_command_prints_it_and_is_run_again)
{
    test::temporary_directory folder;
    const auto path = (folder.path() / "count").string();
    settings config;
    config.token_command = "echo x >> " + path + "; wc -l < " + path;
    auto source = token_source::open(config);
    ASSERT_TRUE(source);
    EXPECT_EQ(source->token(), "1");
    EXPECT_TRUE(source->replace(*source->read_again()));
    EXPECT_EQ(source->token(), "2");
    EXPECT_EQ(source->generation(), 1u);
    EXPECT_FALSE(source->replace("2"));
    EXPECT_EQ(source->generation(), 1u);
    config.token_command = "exit 3";
    EXPECT_EQ(token_source::open(config).error().exit, exit_code::unauthorized);
}

TEST(client_login, what_is_stored_is_what_the_next_command_reads)
{
    user somebody;
    auto config = somebody.load({"login", "--register", "--token-command", "pass", "--into", "/my inbox"});
    config.workspace = some_id;
    auto files = login_files::prepare(config, *find_places(somebody.env()));
    ASSERT_TRUE(files) << files.error().text;
    ASSERT_TRUE(files->store("abc"));
    const auto next = somebody.load({"pull"});
    EXPECT_EQ(next.into, "/my inbox");
    EXPECT_EQ(next.token_command, "");
    EXPECT_EQ(*read_token_file(next.token_file), "abc");
}

TEST(client_login, a_value_that_the_file_cannot_hold_is_refused_and_nothing_is_left)
{
    user somebody;
    for (const std::string into : {"/in#box", "/in\nbox", "/inbox ", "/inbox\r"}) {
        const auto config = somebody.load({"login", "--register", "--into", into});
        const auto files = login_files::prepare(config, *find_places(somebody.env()));
        ASSERT_FALSE(files) << into;
        EXPECT_EQ(files.error().exit, exit_code::usage);
        EXPECT_THAT(files.error().text, HasSubstr("The value of into cannot be stored"));
    }
    {
        const auto config = somebody.load({"login", "--register"});
        const auto files = login_files::prepare(config, *find_places(somebody.env()));
        EXPECT_TRUE(files);
    }
    EXPECT_TRUE(std::filesystem::is_empty(somebody.home.path() / ".config/restante"));
}

TEST(client_login, other_lines_of_the_file_stay)
{
    const auto text = with_settings("# mine\nexec = run it\ntoken-command = pass\n server=old\n",
                                    {{"server", "new"}, {"token-command", ""}, {"into", "/x"}});
    EXPECT_EQ(text, "# mine\nexec = run it\nserver = new\ninto = /x\n");
}

}  // namespace
}  // namespace restante::client
