#include "cli/config.hpp"

#include "cli/config_values.hpp"
#include "test/support/temporary_file.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <map>
#include <set>

namespace restante {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using words = std::vector<std::pair<std::string, std::string>>;
using variables = std::map<std::string, std::string>;

boost::system::result<settings, setting_error> load(const words& flags, const variables& env = {},
                                                    audience who = audience::serve)
{
    std::vector<given_flag> given;
    for (const auto& [flag, value] : flags)
        given.push_back({find_option(flag), value});
    const auto look_up = [&](const std::string& name) -> std::optional<std::string> {
        const auto at = env.find(name);
        return at == env.end() ? std::nullopt : std::optional(at->second);
    };
    return load_settings(given, look_up, who);
}

std::string message_of(const words& flags, const variables& env = {}, audience who = audience::serve)
{
    const auto loaded = load(flags, env, who);
    return loaded ? "" : loaded.error().message;
}

std::string written(const std::vector<host_port>& list)
{
    std::string out;
    for (const auto& where : list)
        out += format_host_port(where) + ' ';
    return out;
}

TEST(config, defaults_are_those_of_the_struct)
{
    const auto loaded = load({});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(written(loaded->listen), "127.0.0.1:8080 ");
    EXPECT_EQ(format_host_port(loaded->metrics_listen), "127.0.0.1:9464");
    EXPECT_EQ(loaded->data_dir, "./restante-data");
    EXPECT_EQ(loaded->ack_retention, 1h);
    EXPECT_EQ(loaded->max_file_bytes, 26'214'400u);
    EXPECT_TRUE(loaded->admin_token.empty());
}

TEST(config, every_default_is_itself_allowed)
{
    for (const auto& o : option_table()) {
        settings to;
        const auto text = default_text(o);
        if (text.empty())
            continue;
        const std::string values[] = {text};
        EXPECT_EQ(assign(to, o, values), std::nullopt) << o.flag;
    }
}

TEST(config, flags_are_unique_and_name_their_environment_twin)
{
    std::set<std::string_view> flags;
    for (const auto& o : option_table()) {
        EXPECT_TRUE(flags.insert(o.flag).second) << o.flag;
        EXPECT_EQ(o.flag.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos) << o.flag;
    }
    EXPECT_EQ(environment_name(*find_option("database-url")), "RESTANTE_DATABASE_URL");
    EXPECT_EQ(find_option("admin-token"), nullptr);
}

TEST(config, every_setting_can_be_given)
{
    const auto loaded = load({{"listen", "[::1]:0"},
                              {"listen-tls", "0.0.0.0:8443"},
                              {"tls-cert", "c.pem"},
                              {"tls-key", "k.pem"},
                              {"metrics-listen", "127.0.0.1:0"},
                              {"allowed-origin", "https://a.example"},
                              {"allowed-origin", "http://localhost:3000"},
                              {"allowed-host", "chat.example"},
                              {"allowed-host", "10.0.0.7"},
                              {"public-url", "https://files.example/box/"},
                              {"threads", "2"},
                              {"max-connections", "100"},
                              {"max-anonymous-connections", "50"},
                              {"database-url", "postgres://x"},
                              {"data-dir", "/d"},
                              {"db-connections", "8"},
                              {"no-migrate", "true"},
                              {"replica-url", "postgres://y"},
                              {"dev", "true"},
                              {"registration", "admin"},
                              {"peers", "open"},
                              {"presence-timeout", "90s"},
                              {"ack-retention", "5m"},
                              {"sweep-interval", "90s"},
                              {"upload-ttl", "2h"},
                              {"activity-retention", "30d"},
                              {"body-memory", "64MiB"},
                              {"spool-dir", "/spool"},
                              {"spool-limit", "1GiB"},
                              {"max-file-bytes", "1000"},
                              {"max-request-bytes", "2000"},
                              {"max-files", "3"},
                              {"max-parts", "4"},
                              {"header-timeout", "500ms"},
                              {"idle-timeout", "2s"},
                              {"handshake-timeout", "3s"},
                              {"shutdown-grace", "0"},
                              {"log-level", "warn"}});
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(written(loaded->listen), "[::1]:0 ");
    EXPECT_EQ(written(loaded->listen_tls), "0.0.0.0:8443 ");
    EXPECT_EQ(loaded->tls_cert + loaded->tls_key, "c.pemk.pem");
    EXPECT_EQ(loaded->metrics_listen.port, 0);
    ASSERT_EQ(loaded->allowed_hosts.size(), 2u);
    EXPECT_EQ(loaded->allowed_hosts[1].text, "10.0.0.7");
    EXPECT_EQ(loaded->allowed_origins,
              (std::vector<std::string>{"https://a.example", "http://localhost:3000"}));
    EXPECT_EQ(loaded->public_url.text, "https://files.example/box");
    EXPECT_EQ(loaded->threads, 2u);
    EXPECT_EQ(loaded->max_connections, 100u);
    EXPECT_EQ(loaded->max_anonymous_connections, 50u);
    EXPECT_EQ(loaded->database_url, "postgres://x");
    EXPECT_EQ(loaded->replica_url, "postgres://y");
    EXPECT_EQ(loaded->data_dir, "/d");
    EXPECT_EQ(loaded->db_connections, 8u);
    EXPECT_TRUE(loaded->no_migrate && loaded->dev);
    EXPECT_EQ(loaded->registration, registration_policy::admin);
    EXPECT_EQ(loaded->peers, peer_policy::open);
    EXPECT_EQ(loaded->presence_timeout, 90s);
    EXPECT_EQ(loaded->ack_retention, 5min);
    EXPECT_EQ(loaded->sweep_interval, 90s);
    EXPECT_EQ(loaded->upload_ttl, 2h);
    EXPECT_EQ(loaded->activity_retention, 720h);
    EXPECT_EQ(loaded->body_memory, 64u << 20);
    EXPECT_EQ(loaded->spool_dir, "/spool");
    EXPECT_EQ(loaded->spool_limit, 1u << 30);
    EXPECT_EQ(loaded->max_file_bytes, 1000u);
    EXPECT_EQ(loaded->max_request_bytes, 2000u);
    EXPECT_EQ(loaded->max_files, 3u);
    EXPECT_EQ(loaded->max_parts, 4u);
    EXPECT_EQ(loaded->header_timeout, 500ms);
    EXPECT_EQ(loaded->idle_timeout, 2s);
    EXPECT_EQ(loaded->handshake_timeout, 3s);
    EXPECT_EQ(loaded->shutdown_grace, 0s);
    EXPECT_EQ(loaded->level, log_level::warn);
}

TEST(config, the_s3_store_needs_its_place)
{
    EXPECT_EQ(message_of({{"content-store", "s3"}, {"s3-bucket", "files"}}),
              "--content-store s3 needs --s3-endpoint and --s3-bucket, but --s3-endpoint is missing.");
    EXPECT_THAT(message_of({{"content-store", "s3"}, {"s3-endpoint", "http://127.0.0.1:1"}}),
                HasSubstr("but --s3-bucket is missing."));
}

TEST(config, flag_beats_environment_beats_file)
{
    const temporary_file file(
        "# for tests\nthreads = 1\ndata-dir=/from-file   # where\nmax-files = 5\n\ndev = yes\n");
    const variables env{{"RESTANTE_THREADS", "2"}, {"RESTANTE_MAX_FILES", "6"}, {"RESTANTE_DEV", ""}};
    const auto loaded = load({{"config", file.path()}, {"threads", "3"}}, env);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->threads, 3u);
    EXPECT_EQ(loaded->max_files, 6u);
    EXPECT_EQ(loaded->data_dir, "/from-file");
    EXPECT_TRUE(loaded->dev);  // an empty variable counts as unset
    EXPECT_EQ(loaded->config_file, file.path());
}

TEST(config, the_environment_may_name_the_file)
{
    const temporary_file file("threads = 7\n");
    const auto loaded = load({}, {{"RESTANTE_CONFIG", file.path()}});
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->threads, 7u);
}

TEST(config, lists_replace_each_other_and_split_at_commas)
{
    const temporary_file file("listen = 127.0.0.1:1, [::1]:2\nlisten = 127.0.0.1:3\n");
    EXPECT_EQ(written(load({{"config", file.path()}})->listen), "127.0.0.1:1 [::1]:2 127.0.0.1:3 ");

    const variables env{{"RESTANTE_LISTEN", "127.0.0.1:4,127.0.0.1:5"}};
    EXPECT_EQ(written(load({{"config", file.path()}}, env)->listen), "127.0.0.1:4 127.0.0.1:5 ");
    EXPECT_EQ(written(load({{"listen", "127.0.0.1:6"}, {"listen", "127.0.0.1:7"}}, env)->listen),
              "127.0.0.1:6 127.0.0.1:7 ");
}

TEST(config, messages_name_setting_value_and_range)
{
    EXPECT_EQ(message_of({{"threads", "300"}}),
              "--threads must be a whole number from 0 to 256, but \"300\" was given.");
    EXPECT_EQ(message_of({}, {{"RESTANTE_DB_CONNECTIONS", "1"}}),
              "RESTANTE_DB_CONNECTIONS must be a whole number from 2 to 1000, but \"1\" was given.");
    const temporary_file file("log-level = loud\n");
    EXPECT_EQ(
        message_of({{"config", file.path()}}),
        "log-level in " + file.path() + " must be one of debug info warn error, but \"loud\" was given.");
    EXPECT_EQ(
        message_of({{"ack-retention", "-5s"}}),
        "--ack-retention must be a duration from 0s to 3650d, written like 500ms, 90s, 5m, 1h or 30d, but "
        "\"-5s\" was given.");
    EXPECT_EQ(
        message_of({{"max-file-bytes", "5368709121"}}),
        "--max-file-bytes must be a size from 1B to 5GiB, in plain bytes or written like 64KiB, 128MiB or "
        "1GiB, but \"5368709121\" was given.");
    EXPECT_EQ(
        message_of({{"listen", "127.0.0.1:1"}, {"listen", "8080"}}),
        "--listen must be HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:0, but "
        "\"8080\" was given.");
    EXPECT_EQ(
        message_of({{"allowed-origin", "https://x/y"}}),
        "--allowed-origin must be an origin without a path, such as https://chat.example.com, or *, but "
        "\"https://x/y\" was given.");
    EXPECT_EQ(message_of({{"dev", "maybe"}}), "--dev must be true or false, but \"maybe\" was given.");
    EXPECT_EQ(message_of({{"data-dir", ""}}),
              "--data-dir must be a text that is not empty, but \"\" was given.");
    EXPECT_EQ(message_of({{"threads", "1"}, {"threads", "2"}}), "--threads is given more than once.");
}

TEST(config, the_edges_of_ranges_are_allowed)
{
    EXPECT_EQ(message_of({{"threads", "256"}, {"db-connections", "2"}, {"max-file-bytes", "26214400"}}), "");
    EXPECT_EQ(message_of({{"threads", "0"}, {"db-connections", "1000"}, {"max-file-bytes", "1"}}), "");
    for (const char* bad : {"-1", "257", "two", ""})
        EXPECT_THAT(message_of({{"threads", bad}}), HasSubstr("--threads")) << bad;
}

TEST(config, no_ack_retention_means_the_default)
{
    EXPECT_EQ(load({{"ack-retention", "0"}})->ack_retention, 1h);
    EXPECT_EQ(load({}, {{"RESTANTE_ACK_RETENTION", "0s"}})->ack_retention, 1h);
}

TEST(config, settings_that_do_not_fit_together)
{
    EXPECT_THAT(message_of({{"listen", "0.0.0.0:80"}}), HasSubstr("--allow-plain-http"));
    EXPECT_THAT(message_of({{"listen", "127.0.0.1:1"}, {"listen", "[::]:80"}}), HasSubstr("[::]:80"));
    EXPECT_EQ(message_of({{"listen", "0.0.0.0:80"}, {"allow-plain-http", "true"}}), "");
    EXPECT_EQ(message_of({{"listen-tls", "0.0.0.0:443"}}), "");

    EXPECT_THAT(message_of({{"tls-cert", "c"}}), HasSubstr("--tls-key is missing"));
    EXPECT_THAT(message_of({{"tls-key", "k"}}), HasSubstr("--tls-cert is missing"));

    EXPECT_EQ(message_of({{"max-request-bytes", "1000"}}),
              "--max-request-bytes must be at least --max-file-bytes, which is 26214400, but is 1000.");
    EXPECT_EQ(message_of({{"max-request-bytes", "1000"}, {"max-file-bytes", "1000"}}), "");
    EXPECT_THAT(message_of({{"max-files", "81"}}), HasSubstr("--max-parts"));

    EXPECT_THAT(message_of({{"listen", "none"}}), HasSubstr("no listener"));
    EXPECT_EQ(message_of({{"listen", "none"}, {"listen-tls", "127.0.0.1:0"}}), "");

    EXPECT_THAT(message_of({{"replica-url", "postgres://y"}}), HasSubstr("standby of --database-url"));
    EXPECT_EQ(message_of({{"replica-url", "postgres://y"}, {"database-url", "postgres://x"}}), "");
}

TEST(config, broken_files_are_told_with_their_path)
{
    EXPECT_THAT(message_of({{"config", "/nowhere/at/all"}}),
                HasSubstr("The config file /nowhere/at/all cannot be read: No such file"));
    EXPECT_THAT(message_of({{"config", "/tmp"}}), HasSubstr("cannot be read: Is a directory"));

    const temporary_file typo("treads = 2\n");
    EXPECT_EQ(message_of({{"config", typo.path()}}),
              "There is no setting \"treads\" (in " + typo.path() + "); did you mean threads?");
    const temporary_file section("[server]\nthreads = 2\n");
    EXPECT_THAT(message_of({{"config", section.path()}}),
                HasSubstr("line 1 is not `key = value`: \"[server]\""));
    const temporary_file nonsense("just words\n");
    EXPECT_THAT(message_of({{"config", nonsense.path()}}), HasSubstr("just words"));
    const temporary_file nested("config = /other\n");
    EXPECT_THAT(message_of({{"config", nested.path()}}), HasSubstr("no setting \"config\""));
    const temporary_file large(std::string((1 << 20) + 1, '#'));
    EXPECT_THAT(message_of({{"config", large.path()}}), HasSubstr("too large"));
    const temporary_file secret("admin-token = very-secret-indeed\n");
    EXPECT_EQ(message_of({{"config", secret.path()}}).find("very-secret"), std::string::npos);
}

TEST(config, the_admin_token_comes_from_a_file_or_the_environment)
{
    const temporary_file file("  0123456789abcdef\n\n");
    EXPECT_EQ(load({{"admin-token-file", file.path()}})->admin_token, "0123456789abcdef");
    EXPECT_EQ(load({}, {{"RESTANTE_ADMIN_TOKEN_FILE", file.path()}})->admin_token, "0123456789abcdef");

    const variables env{{"RESTANTE_ADMIN_TOKEN", "from-the-environment"}};
    EXPECT_EQ(load({}, env)->admin_token, "from-the-environment");
    EXPECT_EQ(load({{"admin-token-file", file.path()}}, env)->admin_token, "0123456789abcdef");
    const temporary_file config("admin-token-file = " + file.path() + "\n");
    EXPECT_EQ(load({{"config", config.path()}}, env)->admin_token, "from-the-environment");
    EXPECT_THAT(message_of({}, {{"RESTANTE_ADMIN_TOKEN", "from-the-environment"},
                                {"RESTANTE_ADMIN_TOKEN_FILE", file.path()}}),
                HasSubstr("both set"));
}

TEST(config, a_bad_admin_token_is_refused_and_not_shown)
{
    const temporary_file empty(" \n"), brief("tooshort1234567"), spaced("0123456789 abcdefghi");
    EXPECT_EQ(message_of({{"admin-token-file", empty.path()}}),
              "The admin token in " + empty.path() + " must have at least 16 characters, but has 0.");
    EXPECT_THAT(message_of({{"admin-token-file", brief.path()}}), HasSubstr("but has 15"));
    EXPECT_THAT(message_of({{"admin-token-file", spaced.path()}}), HasSubstr("visible ASCII"));
    const temporary_file longest(std::string(512, 'x')), endless(std::string(513, 'x'));
    EXPECT_EQ(load({{"admin-token-file", longest.path()}})->admin_token.size(), 512);
    EXPECT_THAT(message_of({{"admin-token-file", endless.path()}}), HasSubstr("at most 512 characters, but has 513"));
    EXPECT_EQ(message_of({{"admin-token-file", brief.path()}}).find("tooshort"), std::string::npos);
    EXPECT_THAT(message_of({}, {{"RESTANTE_ADMIN_TOKEN", "short"}}), HasSubstr("RESTANTE_ADMIN_TOKEN"));
    EXPECT_EQ(message_of({{"admin-token-file", "/nowhere"}}),
              "--admin-token-file names /nowhere, which cannot be read: No such file or directory.");
}

TEST(config, other_commands_look_only_at_what_they_read)
{
    const temporary_file file("threads = 9999\ndata-dir = /d\nack-retention = 2h\n");
    const variables env{{"RESTANTE_LISTEN", "0.0.0.0:80"}, {"RESTANTE_ADMIN_TOKEN", "short"}};
    const auto tools = load({{"config", file.path()}}, env, audience::tools);
    ASSERT_TRUE(tools) << tools.error().message;
    EXPECT_EQ(tools->data_dir, "/d");
    EXPECT_EQ(tools->ack_retention, 1h);
    EXPECT_TRUE(tools->admin_token.empty());

    const auto sweep = load({{"config", file.path()}}, env, audience::sweep);
    ASSERT_TRUE(sweep);
    EXPECT_EQ(sweep->ack_retention, 2h);

    const temporary_file typo("treads = 2\n");
    EXPECT_THAT(message_of({{"config", typo.path()}}, {}, audience::tools), HasSubstr("threads"));
}

TEST(config, the_process_environment)
{
    ASSERT_EQ(::setenv("RESTANTE_UNIT_TEST", "x", 1), 0);
    EXPECT_EQ(process_environment()("RESTANTE_UNIT_TEST"), "x");
    ::unsetenv("RESTANTE_UNIT_TEST");
    EXPECT_EQ(process_environment()("RESTANTE_UNIT_TEST"), std::nullopt);
}

}  // namespace
}  // namespace restante
