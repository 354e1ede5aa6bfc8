#include "client/file_placer.hpp"
#include "client/group_sync.hpp"
#include "client/journal.hpp"
#include "client/partial_file.hpp"
#include "client/pull_state.hpp"
#include "client/recovery.hpp"
#include "core/encoding.hpp"
#include "core/task_group.hpp"
#include "test/support/run.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>

namespace restante::client {
namespace {

namespace fs = std::filesystem;

const uuid some_file = *parse_uuid("0191d5a0-0000-7000-8000-0000000000aa");
const uuid some_row = *parse_uuid("0191d5a0-0000-7000-8000-000000000001");
const uuid other_row = *parse_uuid("0191d5a0-0000-7000-8000-000000000002");

std::string read_file(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(client_names, whatever_the_server_says_it_is_one_harmless_name)
{
    EXPECT_EQ(safe_name("report.pdf"), "report.pdf");
    EXPECT_EQ(safe_name(".."), "file");
    EXPECT_EQ(safe_name("."), "file");
    EXPECT_EQ(safe_name(""), "file");
    EXPECT_EQ(safe_name("/"), "file");
    EXPECT_EQ(safe_name("../../etc/passwd"), "passwd");
    EXPECT_EQ(safe_name(".bash_login"), "_bash_login");
    EXPECT_EQ(safe_name("con"), "_con");
    EXPECT_EQ(safe_name("CoN.txt"), "_CoN.txt");
    EXPECT_EQ(safe_name("lpt1"), "_lpt1");
    EXPECT_EQ(safe_name("console"), "console");
    EXPECT_EQ(safe_name(std::string("a\0b\x1b[2J\n", 8)), "a_b__2J_");
    EXPECT_LE(safe_name(std::string(255, 'x') + ".tar.gz").size(), 100u);
}

TEST(client_names, a_number_goes_before_the_extension)
{
    EXPECT_EQ(numbered_name("report.pdf", 1), "report.pdf");
    EXPECT_EQ(numbered_name("report.pdf", 2), "report (2).pdf");
    EXPECT_EQ(numbered_name("README", 12), "README (12)");
}

TEST(client_names, a_thousand_files_of_one_name_are_found_places_quickly)
{
    free_names names;
    std::set<std::string> there;
    std::size_t asked = 0;
    const auto taken = [&](const std::string& name) {
        ++asked;
        return there.contains(name);
    };
    for (int i = 0; i < 1000; ++i) {
        const auto name = names.reserve("a.txt", taken);
        EXPECT_TRUE(there.insert(name).second);
        names.release(name);
    }
    EXPECT_TRUE(there.contains("a (1000).txt"));
    EXPECT_LT(asked, 3000u);
    there.erase("a.txt");
    EXPECT_EQ(names.reserve("a.txt", taken), "a.txt") << "a name that is free again";
    EXPECT_NE(names.reserve("a.txt", taken), "a.txt") << "given out, and not there yet";
}

TEST(client_recovery, each_state_on_disk_has_its_next_step)
{
    const auto step = [](bool placing, std::optional<std::uint64_t> partial, bool in_directory) {
        return after_restart({placing, partial, in_directory}, 100);
    };
    EXPECT_EQ(step(false, {}, false), next_step::fetch) << "nothing";
    EXPECT_EQ(step(false, 0, false), next_step::fetch) << "just begun";
    EXPECT_EQ(step(false, 40, false), next_step::resume) << "partial";
    EXPECT_EQ(step(false, 100, false), next_step::verify) << "complete, unverified";
    EXPECT_EQ(step(false, 101, false), next_step::fetch) << "too long: not ours";
    EXPECT_EQ(step(true, 100, false), next_step::verify) << "verified, not placed";
    EXPECT_EQ(step(true, 100, true), next_step::finish) << "linked, the partial file not yet removed";
    EXPECT_EQ(step(true, {}, false), next_step::finish) << "placed, unacked";
}

class client_placing : public ::testing::Test {
protected:
    client_placing()
    {
        fs::create_directory(folder.path() / "partial");
        partials = *open_directory(folder.path() / "partial");
        std::ofstream(folder.path() / "partial/p") << "bytes";
    }

    fs::path inbox() const { return folder.path() / "in"; }

    test::temporary_directory folder;
    unique_fd partials;
};

TEST_F(client_placing, a_file_is_moved_and_replaces_nothing)
{
    auto target = target_directory::open(inbox());
    ASSERT_TRUE(target);
    std::ofstream(inbox() / "a") << "old";
    EXPECT_FALSE(*target->take(partials.get(), "p", "a"));
    EXPECT_EQ(read_file(inbox() / "a"), "old");
    EXPECT_TRUE(*target->take(partials.get(), "p", "b"));
    EXPECT_EQ(read_file(inbox() / "b"), "bytes");
    EXPECT_FALSE(fs::exists(folder.path() / "partial/p"));
}

TEST_F(client_placing, a_link_in_the_way_is_a_taken_name_and_is_not_followed)
{
    auto target = target_directory::open(inbox());
    ASSERT_TRUE(target);
    fs::create_symlink(folder.path() / "outside", inbox() / "a");
    EXPECT_TRUE(target->has("a")) << "also when it leads nowhere";
    EXPECT_FALSE(*target->take(partials.get(), "p", "a"));
    EXPECT_FALSE(fs::exists(folder.path() / "outside"));
}

TEST_F(client_placing, one_directory_has_one_pull)
{
    auto first = target_directory::open(inbox());
    ASSERT_TRUE(first);
    const auto second = target_directory::open(inbox().string() + "/../in");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, "in_use");
}

TEST_F(client_placing, a_directory_that_is_removed_is_said_and_found_again)
{
    auto target = target_directory::open(inbox());
    ASSERT_TRUE(target);
    fs::remove_all(inbox());
    EXPECT_EQ(target->take(partials.get(), "p", "a").error().code, "directory_gone");
    EXPECT_EQ(target->reopen().error().code, "directory_gone")
        << "nobody makes it anew: a disk may be missing";
    fs::create_directory(inbox());
    ASSERT_TRUE(target->reopen());
    EXPECT_TRUE(*target->take(partials.get(), "p", "a"));
    EXPECT_TRUE(fs::exists(inbox() / "a"));
}

TEST_F(client_placing, room_that_is_not_there_is_noticed_before_anything_is_fetched)
{
    auto file = partial_file::open(partials.get(), some_file);
    ASSERT_TRUE(file);
    const auto none = file->reserve(std::uint64_t{1} << 60);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, "disk_full");
    EXPECT_TRUE(none.error().transient);
    EXPECT_NE(none.error().text.find("1048576 TiB are missing"), std::string::npos) << none.error().text;
    ASSERT_TRUE(file->append(std::span("abc", 3)));
    EXPECT_TRUE(file->reserve(3 << 20));
    EXPECT_TRUE(file->reserve(3 << 20)) << "what it holds already is not missing";
    EXPECT_EQ(partial_size(partials.get(), some_file), 3u) << "the next try goes on from there";
    EXPECT_EQ(read_file(folder.path() / "partial" / to_string(some_file)), "abc");
}

TEST_F(client_placing, a_partial_file_goes_on_where_it_was)
{
    {
        auto file = partial_file::open(partials.get(), some_file);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->append(std::span("hello ", 6)));
    }
    EXPECT_EQ(partial_size(partials.get(), some_file), 6u);
    auto file = partial_file::open(partials.get(), some_file);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->size(), 6u);
    ASSERT_TRUE(file->append(std::span("world", 5)));
    EXPECT_EQ(file->finish_digest(), to_hex(sha256_of("hello world")));
    ASSERT_TRUE(file->restart());
    ASSERT_TRUE(file->append(std::span("x", 1)));
    EXPECT_EQ(file->finish_digest(), to_hex(sha256_of("x")));
    struct stat facts{};
    ::stat((folder.path() / "partial" / to_string(some_file)).c_str(), &facts);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(client_placing, a_full_disk_is_said_and_passes)
{
    const unique_fd full(::open("/dev/full", O_WRONLY));
    const auto written = write_all(full.get(), "x", "a file");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "disk_full");
    EXPECT_TRUE(written.error().transient);
}

TEST(client_replacement, nothing_is_left_of_one_that_does_not_fit)
{
    test::temporary_directory folder;
    const auto directory = open_directory(folder.path());
    std::ofstream(folder.path() / "file") << "old";
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto on_signal = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto replaced = replace_file(directory->get(), "file", std::string(1000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, on_signal);
    EXPECT_FALSE(replaced);
    EXPECT_EQ(read_file(folder.path() / "file"), "old");
    EXPECT_FALSE(fs::exists(folder.path() / "file.new"));
}

TEST(client_journal, it_remembers_what_was_done)
{
    journal_state facts;
    EXPECT_TRUE(facts.is_new());
    facts.read(placing_line(some_file, "a (2).txt") + ran_line(some_file) + row_line(some_row) +
               cursor_line(some_row));
    EXPECT_EQ(facts.placed_name(some_file), "a (2).txt");
    EXPECT_TRUE(facts.has_run(some_file));
    EXPECT_TRUE(facts.is_delivered(some_row));
    EXPECT_FALSE(facts.is_delivered(other_row));
    EXPECT_EQ(facts.cursor(), some_row);
    journal_state again;
    again.read(facts.text());
    EXPECT_EQ(again.text(), facts.text());
}

TEST(client_journal, torn_lines_mean_nothing)
{
    const auto whole = placing_line(some_file, "name") + cursor_line(some_row);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        journal_state facts;
        facts.read(whole.substr(0, cut) + '\n' + row_line(other_row));
        EXPECT_TRUE(facts.is_delivered(other_row)) << cut;
        if (const auto name = facts.placed_name(some_file);
            name && cut > placing_line(some_file, "name").size())
            EXPECT_EQ(*name, "name");
        EXPECT_TRUE(!facts.cursor() || facts.cursor() == some_row);
    }
    journal_state facts;
    facts.read("cursor x\nfoo " + to_string(some_row) + "\nrow " + to_string(some_row) + " more\n" +
               std::string(40, '\0') + "\n");
    EXPECT_TRUE(facts.is_new());
}

TEST(client_journal, what_it_remembers_is_bounded)
{
    journal_state facts;
    for (std::uint32_t n = 0; n < journal_state::most + 10; ++n) {
        uuid id{};
        std::memcpy(id.data, &n, sizeof n);
        facts.read(row_line(id) + placing_line(id, "n"));
    }
    EXPECT_FALSE(facts.is_delivered(uuid{}));
    EXPECT_FALSE(facts.placed_name(uuid{}));
    EXPECT_LT(facts.text().size(), 10u << 20);
}

TEST(client_journal, on_disk_it_survives_a_torn_end_and_has_one_owner)
{
    test::temporary_directory folder;
    const auto directory = open_directory(folder.path());
    {
        auto log = journal::open(directory->get());
        ASSERT_TRUE(log);
        ASSERT_TRUE(log->append(row_line(some_row)));
        EXPECT_EQ(journal::open(directory->get()).error().code, "in_use");
    }
    std::ofstream(folder.path() / "journal", std::ios::app) << "row 0191d5a0-00";
    {
        auto log = journal::open(directory->get());
        ASSERT_TRUE(log);
        EXPECT_TRUE(log->facts().is_delivered(some_row));
        ASSERT_TRUE(log->append(row_line(other_row)));
    }
    auto log = journal::open(directory->get());
    EXPECT_TRUE(log->facts().is_delivered(other_row)) << "the line after the torn one is a line of its own";
}

TEST(client_journal, it_is_written_anew_while_it_is_used)
{
    test::temporary_directory folder;
    const auto directory = open_directory(folder.path());
    constexpr std::size_t limit = 4000;
    {
        auto log = journal::open(directory->get(), limit);
        ASSERT_TRUE(log);
        const auto first = log->handle();
        ASSERT_TRUE(log->append(placing_line(some_file, "a.txt") + row_line(some_row)));
        for (int i = 0; i < 1000; ++i)
            ASSERT_TRUE(log->append(cursor_line(some_row)));
        EXPECT_LE(fs::file_size(folder.path() / "journal"), limit);
        EXPECT_NE(log->handle(), first);
        EXPECT_EQ(::fsync(first->get()), 0) << "somebody may still be syncing the one before";
        ASSERT_TRUE(log->append(row_line(other_row)));
    }
    const auto log = journal::open(directory->get(), limit);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->facts().placed_name(some_file), "a.txt");
    EXPECT_TRUE(log->facts().is_delivered(some_row));
    EXPECT_TRUE(log->facts().is_delivered(other_row));
    EXPECT_EQ(log->facts().cursor(), some_row);
}

TEST(client_journal, it_is_not_written_anew_for_every_line_when_all_of_it_counts)
{
    test::temporary_directory folder;
    const auto directory = open_directory(folder.path());
    auto log = journal::open(directory->get(), 1);
    ASSERT_TRUE(log);
    std::set<std::shared_ptr<const unique_fd>> handles;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(log->append(row_line(make_uuid_v4())));
        handles.insert(log->handle());
    }
    EXPECT_LT(handles.size(), 20u);
}

TEST(client_journal, it_is_written_anew_after_a_sync_that_has_failed)
{
    test::temporary_directory folder;
    const auto directory = open_directory(folder.path());
    auto log = journal::open(directory->get());
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(row_line(some_row)));
    const auto first = log->handle();
    log->distrust();
    fs::create_directory(folder.path() / "journal.new");
    EXPECT_FALSE(log->append(row_line(other_row))) << "nothing is appended while that is impossible";
    EXPECT_FALSE(log->facts().is_delivered(other_row));
    fs::remove(folder.path() / "journal.new");
    ASSERT_TRUE(log->append(row_line(other_row)));
    const auto second = log->handle();
    EXPECT_NE(second, first);
    EXPECT_EQ(read_file(folder.path() / "journal"), row_line(some_row) + row_line(other_row));
    ASSERT_TRUE(log->append(cursor_line(other_row)));
    EXPECT_EQ(log->handle(), second) << "once";
}

TEST(client_state, others_must_not_be_able_to_put_partial_files_there)
{
    test::temporary_directory folder;
    const auto home = folder.path() / "state";
    const auto open = [&] { return pull_state::open(folder.path() / "in", home, to_string(some_row)); };
    ASSERT_TRUE(open());
    const auto inner = fs::directory_iterator(home)->path();
    fs::permissions(inner, fs::perms::group_write, fs::perm_options::add);
    EXPECT_EQ(open().error().code, "not_private");
    fs::permissions(inner, fs::perms::group_write, fs::perm_options::remove);
    EXPECT_TRUE(open());
    fs::remove_all(inner / "partial");
    fs::create_directory(folder.path() / "elsewhere");
    fs::create_directory_symlink(folder.path() / "elsewhere", inner / "partial");
    EXPECT_FALSE(open()) << "no link is followed";
}

TEST(client_state, it_lies_below_the_state_home_unless_that_is_another_file_system)
{
    test::temporary_directory folder;
    const auto home = folder.path() / "state";
    const auto id = to_string(some_row);
    {
        const auto state = pull_state::open(folder.path() / "in", home, id);
        ASSERT_TRUE(state);
        EXPECT_FALSE(fs::is_empty(home));
        EXPECT_FALSE(fs::exists(folder.path() / "in/.restante"));
    }
    if (!fs::exists("/dev/shm"))
        GTEST_FAIL() << "/dev/shm is the other file system of this test";
    const fs::path elsewhere = "/dev/shm/restante-" + to_string(make_uuid_v4());
    const auto state = pull_state::open(elsewhere, home, id);
    const bool beside = fs::exists(elsewhere / ".restante");
    fs::remove_all(elsewhere);
    ASSERT_TRUE(state);
    EXPECT_TRUE(beside);
}

// Sync is the disk's time; what counts here is that nobody returns before a sync that began after the call.
TEST(client_sync, callers_that_come_while_one_runs_share_the_next)
{
    test::temporary_directory folder;
    const auto directory = std::make_shared<const unique_fd>(*open_directory(folder.path()));
    asio::io_context io(1);
    worker_pool workers(1);
    int syncs = 0;
    group_sync group(
        io.get_executor(), workers,
        [&] {
            ++syncs;
            return std::vector{directory};
        },
        "it");
    int done = 0;
    task_group tasks(io.get_executor());
    const auto one = [&]() -> awaitable<void> {
        const auto how = co_await group.run();
        done += how ? 1 : 0;
    };
    asio::post(io, [&] {
        for (int i = 0; i < 10; ++i)
            tasks.spawn("sync", one());
    });
    io.run();
    EXPECT_EQ(done, 10);
    EXPECT_EQ(syncs, 2) << "the first caller's own, and one for the nine that came while it ran";
}

TEST(client_sync, a_failure_reaches_everybody_who_shared_it)
{
    asio::io_context io(1);
    worker_pool workers(1);
    group_sync group(
        io.get_executor(), workers, [] { return std::vector{std::make_shared<const unique_fd>()}; }, "it");
    int failed = 0;
    task_group tasks(io.get_executor());
    const auto one = [&]() -> awaitable<void> {
        const auto how = co_await group.run();
        failed += how ? 0 : 1;
    };
    asio::post(io, [&] {
        for (int i = 0; i < 3; ++i)
            tasks.spawn("sync", one());
    });
    io.run();
    EXPECT_EQ(failed, 3);
}

}  // namespace
}  // namespace restante::client
