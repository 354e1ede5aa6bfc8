#include "postgres/binaries.hpp"
#include "postgres/cluster_files.hpp"
#include "postgres/layout.hpp"
#include "postgres/postmaster_pid.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace restante {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const account self{::geteuid(), ::getegid(), "me", {}};

void write(const fs::path& file, const std::string& text, fs::perms mode = fs::perms(0644))
{
    std::ofstream(file) << text;
    fs::permissions(file, mode);
}

// An installation whose postgres can only print its version.
void install(const fs::path& directory, const std::string& version)
{
    for (const auto* name : {"postgres", "initdb", "pg_isready"})
        write(directory / name, "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n", fs::perms(0755));
}

TEST(postgres_binaries, reads_the_version)
{
    EXPECT_EQ(parse_postgres_major("postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n"), 15);
    EXPECT_EQ(parse_postgres_major("postgres (PostgreSQL) 17beta1\n"), 17);
    EXPECT_EQ(parse_postgres_major("something else"), 0);
    EXPECT_EQ(parse_postgres_major(""), 0);
}

TEST(postgres_binaries, prefers_the_chosen_then_the_packaged_then_the_path)
{
    const test::temporary_directory chosen, packaged, elsewhere;
    const std::string path = "/nowhere:" + elsewhere.path().string();
    install(elsewhere.path(), "15.1");
    EXPECT_EQ(find_postgres_binaries({"", packaged.path(), path})->directory, elsewhere.path());
    install(packaged.path(), "15.2");
    EXPECT_EQ(find_postgres_binaries({"", packaged.path(), path})->directory, packaged.path());
    install(chosen.path(), "16.3");
    const auto found = find_postgres_binaries({chosen.path(), packaged.path(), path});
    EXPECT_EQ(found->directory, chosen.path());
    EXPECT_EQ(found->major, 16);
}

TEST(postgres_binaries, names_the_package_when_there_are_none)
{
    const auto found = find_postgres_binaries({"", "/nowhere", "/nothing:relative:"});
    ASSERT_TRUE(found.has_error());
    EXPECT_THAT(found.error().message, HasSubstr("apt-get install postgresql-15"));
}

TEST(postgres_binaries, a_wrong_choice_is_not_replaced_silently)
{
    const auto found = find_postgres_binaries({"/nowhere", "/usr/lib/postgresql/15/bin", "/usr/bin"});
    ASSERT_TRUE(found.has_error());
    EXPECT_THAT(found.error().message, HasSubstr("RESTANTE_PG_BIN names /nowhere"));
}

TEST(postgres_binaries, refuses_an_old_version)
{
    const test::temporary_directory old;
    install(old.path(), "13.4");
    const auto found = find_postgres_binaries({old.path(), "", ""});
    ASSERT_TRUE(found.has_error());
    EXPECT_THAT(found.error().message, HasSubstr("too old (postgres (PostgreSQL) 13.4"));
}

TEST(postgres_layout, a_socket_needs_a_short_and_plain_name)
{
    EXPECT_TRUE(fits_a_socket("/tmp/x-1_2.3/socket"));
    // A socket path has at most 107 bytes, and "/.s.PGSQL.5432" takes 14.
    EXPECT_TRUE(fits_a_socket("/" + std::string(92, 'a')));
    EXPECT_FALSE(fits_a_socket("/" + std::string(93, 'a')));
    for (const auto* odd : {"/tmp/a b", "/tmp/a,b", "/tmp/a'b", "/tmp/a\\b", "/tmp/\xC3\xA9", "relative", ""})
        EXPECT_FALSE(fits_a_socket(odd)) << odd;
}

TEST(postgres_layout, keeps_the_socket_beside_the_data_when_it_fits)
{
    const test::temporary_directory place;
    const auto layout = prepare_layout(place.path() / "new" / "data", self);
    ASSERT_TRUE(layout.has_value()) << layout.error().message;
    EXPECT_EQ(layout->data, place.path() / "new/data/postgres/data");
    EXPECT_EQ(layout->socket, place.path() / "new/data/postgres/socket");
    EXPECT_EQ(fs::status(layout->socket).permissions(), fs::perms(0700));
}

TEST(postgres_layout, remembers_the_socket_that_lies_elsewhere)
{
    const test::temporary_directory place;
    const auto deep = place.path() / std::string(100, 'd');
    const auto first = prepare_layout(deep, self);
    ASSERT_TRUE(first.has_value()) << first.error().message;
    EXPECT_TRUE(first->socket.native().starts_with("/tmp/restante-"));
    EXPECT_EQ(fs::status(first->socket).permissions(), fs::perms(0700));
    EXPECT_EQ(prepare_layout(deep, self)->socket, first->socket);

    // In a directory that is open to others, the socket could be anybody's.
    fs::permissions(first->socket, fs::perms(0755));
    const auto second = prepare_layout(deep, self);
    EXPECT_NE(second->socket, first->socket);
    fs::remove(first->socket);
    fs::remove(second->socket);
}

TEST(postgres_layout, refuses_the_directory_of_another_user)
{
    const test::temporary_directory place;
    fs::create_directories(place.path() / "postgres/data");
    auto other = self;
    other.uid += 1;
    other.name = "somebody";
    const auto layout = prepare_layout(place.path(), other);
    ASSERT_TRUE(layout.has_error());
    EXPECT_EQ(layout.error().message,
              (place.path() / "postgres/data").string() + " belongs to " + user_name(self.uid) +
                  ", but PostgreSQL would run as somebody: start the server as the user who "
                  "made it, or choose another --data-dir");
}

TEST(postgres_layout, says_what_cannot_be_made)
{
    const auto layout = prepare_layout("/proc/restante", self);
    ASSERT_TRUE(layout.has_error());
    EXPECT_THAT(layout.error().message, HasSubstr("cannot make the data directory /proc/restante"));
}

TEST(postgres_layout, one_server_at_a_time)
{
    const test::temporary_directory place;
    const auto layout = prepare_layout(place.path(), self);
    ASSERT_TRUE(layout.has_value());
    {
        const auto held = lock_layout(*layout);
        ASSERT_TRUE(held.has_value());
        const auto second = lock_layout(*layout);
        ASSERT_TRUE(second.has_error());
        EXPECT_EQ(second.error().message, "another restante server (process " + std::to_string(::getpid()) +
                                              ") uses " + place.path().string() +
                                              ": stop it, or choose another --data-dir");
    }
    EXPECT_TRUE(lock_layout(*layout).has_value());
}

TEST(postgres_layout, a_full_disk_is_called_by_its_name)
{
    postgres_layout layout;
    layout.root = "/data/postgres";
    EXPECT_EQ(full_disk_hint("could not write: No space left on device", layout),
              ", because the disk that holds /data/postgres is full");
    EXPECT_EQ(full_disk_hint("something else", layout), "");
}

TEST(postmaster_trace, nothing_was_left)
{
    const test::temporary_directory place;
    EXPECT_FALSE(trace_postmaster(place.path()).running);
    EXPECT_FALSE(trace_postmaster(place.path()).misleading);
    write(place.path() / "postmaster.pid", "not a number\n");
    EXPECT_FALSE(trace_postmaster(place.path()).running);
}

TEST(postmaster_trace, a_number_that_went_to_another_program_misleads)
{
    const test::temporary_directory place;
    write(place.path() / "postmaster.pid", std::to_string(::getpid()) + "\n/data\n");
    const auto trace = trace_postmaster(place.path());
    EXPECT_FALSE(trace.running);
    EXPECT_TRUE(trace.misleading);
}

}  // namespace
}  // namespace restante
