#include "postgres/private_postgres.hpp"

#include "postgres/postmaster_pid.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace restante {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

const account self{::geteuid(), ::getegid(), "", {}};

class private_postgres_test : public testing::Test {
protected:
    fs::path data_dir() const { return place_.path() / "data"; }
    fs::path files() const { return data_dir() / "postgres/data"; }

    startup_result<private_postgres> start(unsigned max_connections = 20) const
    {
        private_postgres_options options;
        options.data_dir = data_dir();
        options.max_connections = max_connections;
        return private_postgres::start(std::move(options));
    }

    std::string failure() const
    {
        const auto started = start();
        return started.has_error() ? started.error().message : "started";
    }

    const test::temporary_directory place_;
};

// The output of psql, without the last line end.
std::string ask(const private_postgres& cluster, const std::string& sql)
{
    auto out = run_program({"/usr/bin/psql", "-XAtq", "-d", cluster.conninfo(), "-c", sql}, self, 30s);
    if (out.has_error())
        return out.error().message;
    if (out->text.ends_with('\n'))
        out->text.pop_back();
    return out->text;
}

TEST_F(private_postgres_test, keeps_what_was_stored_from_one_start_to_the_next)
{
    {
        auto cluster = start();
        ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
        EXPECT_TRUE(cluster->alive());
        EXPECT_EQ(ask(*cluster, "CREATE TABLE kept AS SELECT 42 AS answer"), "");
        cluster->stop();
        EXPECT_FALSE(cluster->alive());
        EXPECT_FALSE(trace_postmaster(files()).running);
    }
    const auto again = start();
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(ask(*again, "SELECT answer FROM kept"), "42");
}

TEST_F(private_postgres_test, is_safe_and_reachable_through_its_socket_only)
{
    const auto cluster = start(33);
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    const auto setting = [&](const std::string& name) { return ask(*cluster, "SHOW " + name); };
    EXPECT_EQ(setting("fsync"), "on");
    EXPECT_EQ(setting("full_page_writes"), "on");
    EXPECT_EQ(setting("synchronous_commit"), "on");
    EXPECT_EQ(setting("listen_addresses"), "");
    EXPECT_EQ(setting("max_connections"), "33");
    EXPECT_EQ(setting("server_encoding"), "UTF8");
    EXPECT_EQ(setting("lc_collate"), "C.UTF-8");
    EXPECT_EQ(fs::status(data_dir() / "postgres/socket").permissions(), fs::perms(0700));
}

TEST_F(private_postgres_test, a_second_server_is_refused)
{
    const auto first = start();
    ASSERT_TRUE(first.has_value()) << first.error().message;
    EXPECT_EQ(failure(), "another restante server (process " + std::to_string(::getpid()) + ") uses " +
                             data_dir().string() + ": stop it, or choose another --data-dir");
    EXPECT_EQ(ask(*first, "SELECT 1"), "1");
}

// Everything under a directory with its last change.
std::map<fs::path, fs::file_time_type> everything_in(const fs::path& directory)
{
    std::map<fs::path, fs::file_time_type> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
        found[entry.path()] = entry.last_write_time();
    return found;
}

TEST_F(private_postgres_test, looking_for_a_running_one_changes_nothing)
{
    for (const auto& data_dir : {data_dir(), place_.path() / "deep" / std::string(90, 'd')}) {
        EXPECT_EQ(private_postgres::conninfo_of_running(data_dir), std::nullopt);
        EXPECT_FALSE(private_postgres::exists(data_dir));
        EXPECT_FALSE(fs::exists(data_dir));

        private_postgres_options options;
        options.data_dir = data_dir;
        auto cluster = private_postgres::start(std::move(options));
        ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
        EXPECT_TRUE(private_postgres::exists(data_dir));
        EXPECT_EQ(private_postgres::conninfo_of_running(data_dir), cluster->conninfo());
        cluster->stop();

        const auto before = everything_in(data_dir);
        EXPECT_EQ(private_postgres::conninfo_of_running(data_dir), std::nullopt);
        EXPECT_EQ(everything_in(data_dir), before);
    }
}

TEST_F(private_postgres_test, adopts_what_a_crashed_server_left_running)
{
    const pid_t server = ::fork();
    if (server == 0) {
        // No destructor runs, as after kill -9.
        const auto started = start();
        ::_exit(started.has_value() && ask(*started, "CREATE TABLE left_behind ()") == "" ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(server, &status, 0), server);
    ASSERT_EQ(status, 0);
    const auto left = trace_postmaster(files()).running;
    ASSERT_TRUE(left.has_value());
    auto watched = process::find(*left);
    ASSERT_TRUE(watched.has_value());

    auto cluster = start();
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_EQ(trace_postmaster(files()).running, left);
    EXPECT_EQ(ask(*cluster, "SELECT count(*) FROM left_behind"), "0");
    cluster->stop();
    EXPECT_FALSE(watched->alive());
}

TEST_F(private_postgres_test, replaces_a_left_over_that_does_not_answer)
{
    const pid_t server = ::fork();
    if (server == 0) {
        const auto started = start();
        ::_exit(started.has_value() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(server, &status, 0), server);
    ASSERT_EQ(status, 0);
    auto left = process::find(trace_postmaster(files()).running.value_or(0));
    ASSERT_TRUE(left.has_value());
    fs::remove(data_dir() / "postgres/socket/.s.PGSQL.5432");

    private_postgres_options options;
    options.data_dir = data_dir();
    options.adoption_limit = 100ms;
    const auto cluster = private_postgres::start(std::move(options));
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_FALSE(left->alive());
    EXPECT_EQ(ask(*cluster, "SELECT 1"), "1");
}

TEST_F(private_postgres_test, starts_again_when_it_was_killed)
{
    auto cluster = start();
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    const auto conninfo = cluster->conninfo();
    ASSERT_EQ(ask(*cluster, "CREATE TABLE survives AS SELECT 7 AS n"), "");
    auto postmaster = process::find(trace_postmaster(files()).running.value_or(0));
    ASSERT_TRUE(postmaster.has_value());

    postmaster->send(SIGKILL);
    ASSERT_TRUE(postmaster->wait_for_end(10s));
    EXPECT_FALSE(cluster->alive());

    const auto again = cluster->ensure_running();
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(cluster->alive());
    EXPECT_EQ(cluster->conninfo(), conninfo);
    EXPECT_EQ(ask(*cluster, "SELECT n FROM survives"), "7");
}

TEST_F(private_postgres_test, waits_for_the_busy_sessions_of_a_killed_postmaster)
{
    auto cluster = start();
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    // A busy session does not check whether its postmaster is gone, and keeps the shared memory.
    const std::string busy =
        "DO $$ DECLARE start timestamptz := clock_timestamp(); BEGIN "
        "WHILE clock_timestamp() < start + interval '2 seconds' LOOP END LOOP; END $$";
    auto session =
        spawn({"/usr/bin/psql", "-Xq", "-d", cluster->conninfo(), "-c", busy}, self, STDERR_FILENO);
    ASSERT_TRUE(session.has_value());
    const std::string is_busy =
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'";
    while (ask(*cluster, is_busy) != "1")
        ASSERT_TRUE(session->alive());

    auto postmaster = process::find(trace_postmaster(files()).running.value_or(0));
    ASSERT_TRUE(postmaster.has_value());
    postmaster->send(SIGKILL);
    ASSERT_TRUE(postmaster->wait_for_end(10s));
    const auto again = cluster->ensure_running();
    EXPECT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(session->wait_for_end(10s));
}

TEST_F(private_postgres_test, ensure_running_leaves_a_running_one_alone)
{
    auto cluster = start();
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    const auto before = trace_postmaster(files()).running;
    EXPECT_TRUE(cluster->ensure_running().has_value());
    EXPECT_EQ(trace_postmaster(files()).running, before);
}

TEST_F(private_postgres_test, a_deep_or_odd_directory_gets_its_socket_in_tmp)
{
    private_postgres_options options;
    options.data_dir = place_.path() / "with space, comma and 'quote'" / std::string(90, 'd');
    auto cluster = private_postgres::start(std::move(options));
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_THAT(cluster->conninfo(), HasSubstr("host=/tmp/restante-"));
    EXPECT_EQ(ask(*cluster, "SELECT 1"), "1");

    const auto host = cluster->conninfo().substr(5, std::string("/tmp/restante-XXXXXX").size());
    EXPECT_TRUE(fs::exists(host));
    cluster->stop();
    EXPECT_FALSE(fs::exists(host)) << "the private directory in /tmp goes with the server";
}

TEST_F(private_postgres_test, an_interrupted_first_start_does_no_harm)
{
    fs::create_directories(data_dir() / "postgres/data.new/half");
    std::ofstream(data_dir() / "postgres/data.new/PG_VERSION") << "15\n";
    const auto cluster = start();
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_EQ(ask(*cluster, "SELECT 1"), "1");
    EXPECT_FALSE(fs::exists(data_dir() / "postgres/data.new"));
}

TEST_F(private_postgres_test, the_number_of_a_dead_postmaster_may_have_gone_to_another_program)
{
    ASSERT_EQ(failure(), "started");
    auto other = spawn({"/bin/sleep", "600"}, self, STDERR_FILENO);
    ASSERT_TRUE(other.has_value());
    std::ofstream(files() / "postmaster.pid") << other->pid() << '\n' << files().string() << "\n1\n5432\n";
    EXPECT_EQ(failure(), "started");
    EXPECT_TRUE(other->alive());
    other->send(SIGKILL);
    EXPECT_TRUE(other->wait_for_end(10s));
}

TEST_F(private_postgres_test, refuses_the_directory_of_another_version)
{
    ASSERT_EQ(failure(), "started");
    std::ofstream(files() / "PG_VERSION") << "12\n";
    EXPECT_THAT(failure(), HasSubstr("was made by PostgreSQL 12, and"));
    EXPECT_THAT(failure(), HasSubstr("(package postgresql-12)"));
}

TEST_F(private_postgres_test, refuses_a_directory_that_is_something_else)
{
    ASSERT_EQ(failure(), "started");
    fs::remove(files() / "PG_VERSION");
    EXPECT_THAT(failure(), HasSubstr("exists and is no PostgreSQL directory"));
}

TEST_F(private_postgres_test, passes_on_why_postgresql_gave_up)
{
    ASSERT_EQ(failure(), "started");
    std::ofstream(files() / "postgresql.conf", std::ios::app) << "nonsense = 1\n";
    const auto told = failure();
    EXPECT_THAT(told, HasSubstr("PostgreSQL ended with exit status 1"));
    EXPECT_THAT(told, HasSubstr("unrecognized configuration parameter \"nonsense\""));
}

TEST_F(private_postgres_test, a_directory_closed_to_others_suits_a_user_and_not_root)
{
    fs::create_directory(place_.path() / "closed");
    fs::permissions(place_.path() / "closed", fs::perms(0700));
    private_postgres_options options;
    options.data_dir = place_.path() / "closed/data";
    const auto cluster = private_postgres::start(std::move(options));
    if (::geteuid() == 0) {
        ASSERT_TRUE(cluster.has_error());
        EXPECT_THAT(cluster.error().message,
                    HasSubstr("cannot enter " + (place_.path() / "closed").string() + ":"));
        EXPECT_THAT(cluster.error().message, HasSubstr("--data-dir /var/lib/restante"));
    } else {
        EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
    }
}

}  // namespace
}  // namespace restante
