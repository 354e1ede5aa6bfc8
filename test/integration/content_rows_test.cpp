// Rows whose bytes are elsewhere: written after them, removed before them, and never without them.
#include "storage/content/content_key.hpp"
#include "storage/content/directory_store.hpp"
#include "storage/content/inline_store.hpp"
#include "storage/staging_transaction.hpp"
#include "sweeper/content_janitor.hpp"
#include "sweeper/content_remover.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/temporary_directory.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::make_file;

class content_rows_test : public ::testing::Test {
protected:
    content_rows_test()
    {
        test::apply_schema(db);
        db.sql("CREATE TABLE schema_migrations (number int, applied_at timestamptz)");
        db.sql("INSERT INTO schema_migrations VALUES (14, '2019-12-31')");
    }

    // The write side of a shard whose files above 10 bytes go into a directory.
    struct shard {
        shard(executor ex, const test::scratch_database& db, const std::string& path)
            : pool(ex, {.connect = db.options(), .connections = 4}),
              contents({.store = content_place::directory, .inline_max = 10}, metrics),
              uploads(pool, 24h),
              log(pool, listener),
              requests(pool, 24h),
              stage(ex, pool, uploads, log, requests, &contents),
              remover(pool, contents, metrics),
              janitor(pool, contents)
        {
            auto opened = content_directory::open(path);
            contents.add(std::make_unique<inline_store>(pool));
            contents.add(std::make_unique<directory_store>(ex, *opened));
        }

        metric_set metrics;
        pq::connection_pool pool;
        content_stores contents;
        test::recording_listener listener;
        pending_uploads uploads;
        activity_log log;
        upload_requests requests;
        staging stage;
        content_remover remover;
        content_janitor janitor;
    };

    template <class Body>
    void with_shard(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            shard on(ex, db, content_path());
            co_await test::with_running(on.pool, [&] { return body(on); });
        });
    }

    std::string content_path() const { return (place.path() / "content").string(); }

    std::vector<std::string> stored() const
    {
        std::vector<std::string> keys;
        for (const auto& each : std::filesystem::recursive_directory_iterator(content_path()))
            if (each.is_regular_file())
                keys.push_back(each.path().parent_path().filename().string() + '/' +
                               each.path().filename().string());
        return keys;
    }

    // Bytes of an hour that is long over.
    std::string plant(const uuid& file)
    {
        const auto key = make_content_key(file, parse_rfc3339("2020-01-01T00:00:00Z").value());
        std::filesystem::create_directories(std::filesystem::path(content_path()) / "2020-01-01T00");
        std::ofstream(content_path() + '/' + key) << "bytes";
        return key;
    }

    std::string insert_row(const uuid& file, const std::string& key) const
    {
        return "INSERT INTO pending_uploads (file_id, workspace_id, size_bytes, filename, sha256, content_place, "
               "content_key) VALUES ('" +
               to_string(file) + "', '" + to_string(workspace) +
               "', 5, 'a', sha256('bytes'), 'directory', '" + key + "')";
    }

    test::scratch_database db;
    test::temporary_directory place;
    const uuid workspace = make_uuid_v4();
};

TEST_F(content_rows_test, a_row_names_its_bytes_and_small_files_stay_in_it)
{
    with_shard([&](shard& on) -> awaitable<void> {
        std::vector<new_file> files;
        files.push_back(make_file("small", "0123456789"));
        files.push_back(make_file("large", "0123456789a"));
        files.push_back(make_file("spooled", std::string(100'000, 'x'), true));
        auto load = test::make_upload(workspace, std::move(files));
        EXPECT_TRUE((co_await on.stage.stage(std::move(load))).has_value());
        EXPECT_EQ(db.ask("SELECT string_agg(content_place, ',' ORDER BY filename) FROM pending_uploads"),
                  "directory,inline,directory");
        EXPECT_EQ(stored().size(), 2u);
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads WHERE content_key LIKE '%/' || file_id"), "2");
    });
}

TEST_F(content_rows_test, a_request_that_is_refused_leaves_no_bytes)
{
    with_shard([&](shard& on) -> awaitable<void> {
        db.sql("INSERT INTO workspaces (id, removed_at) VALUES ('" + to_string(workspace) + "', now())");
        std::vector<new_file> files;
        files.push_back(make_file("large", std::string(100'000, 'x')));
        auto load = test::make_upload(workspace, std::move(files));
        EXPECT_EQ((co_await on.stage.stage(std::move(load))).error(), errc::workspace_not_found);
        EXPECT_TRUE(stored().empty());
    });
}

TEST_F(content_rows_test, bytes_that_cannot_be_stored_get_no_row)
{
    with_shard([&](shard& on) -> awaitable<void> {
        std::filesystem::remove_all(content_path());
        std::vector<new_file> files;
        files.push_back(make_file("large", std::string(100'000, 'x')));
        auto load = test::make_upload(workspace, std::move(files));
        EXPECT_EQ((co_await on.stage.stage(std::move(load))).error(), errc::content_store_unavailable);
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads"), "0");
    });
}

// A store may take hours for a large file; the janitor does not know that a row is still to come.
TEST_F(content_rows_test, bytes_that_the_janitor_may_take_get_no_row)
{
    with_shard([&](shard& on) -> awaitable<void> {
        commit_recovery recovery(co_await asio::this_coro::executor, on.pool, on.log, on.requests);
        const staging_stores stores{on.pool, on.uploads, on.log, on.requests, recovery};
        std::vector<new_file> files;
        files.push_back(make_file("large", std::string(100, 'x')));
        auto load = test::make_upload(workspace, std::move(files));
        const auto now = std::chrono::steady_clock::now();
        const upload* const one[] = {&load};
        load.keyed_at = now - 101min;
        staging_transaction late(stores, one, staging_transaction::sharing::alone);
        EXPECT_EQ((co_await late.commit(now + 8s)).error(), errc::could_not_stage);
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads"), "0");
        load.keyed_at = now - 99min;
        staging_transaction in_time(stores, one, staging_transaction::sharing::alone);
        EXPECT_TRUE((co_await in_time.commit(now + 8s)).has_value());
    });
}

TEST_F(content_rows_test, whoever_deletes_a_row_queues_its_key)
{
    with_shard([&](shard& on) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        task_group tasks(ex);
        const auto file = make_uuid_v7();
        db.sql(insert_row(file, plant(file)));
        db.sql("DELETE FROM pending_uploads");  // as an older server would
        EXPECT_EQ(db.ask("SELECT count(*) FROM content_removals"), "1");
        EXPECT_EQ(stored().size(), 1u);
        EXPECT_EQ((co_await on.remover.remove_due(tasks)).value(), 1u);
        EXPECT_TRUE(stored().empty());
        EXPECT_EQ(db.ask("SELECT count(*) FROM content_removals"), "0");
    });
}

TEST_F(content_rows_test, what_cannot_be_removed_holds_up_nothing_else)
{
    with_shard([&](shard& on) -> awaitable<void> {
        task_group tasks(co_await asio::this_coro::executor);
        std::vector<std::string> keys;
        for (int i = 0; i < 3; ++i) {
            const auto file = make_uuid_v7();
            keys.push_back(plant(file));
            db.sql(insert_row(file, keys.back()));
        }
        const auto bad = content_path() + '/' + keys[0];
        std::filesystem::remove(bad);
        std::filesystem::create_directory(bad);
        db.sql("DELETE FROM pending_uploads");
        EXPECT_EQ((co_await on.remover.remove_due(tasks)).value(), 2u);
        EXPECT_TRUE(stored().empty());
        EXPECT_EQ(db.ask("SELECT string_agg(content_key, ',') FROM content_removals"), keys[0]);
        std::filesystem::remove(bad);
        db.sql("UPDATE content_removals SET claimed_until = NULL");
        EXPECT_EQ((co_await on.remover.remove_due(tasks)).value(), 1u);
        EXPECT_EQ(db.ask("SELECT count(*) FROM content_removals"), "0");
    });
}

TEST_F(content_rows_test, bytes_stay_as_long_as_their_row)
{
    with_shard([&](shard& on) -> awaitable<void> {
        task_group tasks(co_await asio::this_coro::executor);
        const auto file = make_uuid_v7();
        db.sql(insert_row(file, plant(file)));
        // Acked and expired, but not swept: it can still be asked for.
        db.sql(
            "UPDATE pending_uploads SET fetched_at = now(), acked_at = now(), expires_at = now() - interval '1 day'");
        EXPECT_EQ((co_await on.remover.remove_due(tasks)).value(), 0u);
        EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 1u);
    });
}

// The tests share one PostgreSQL, and a transaction in any of its databases may be one that the janitor waits
// for.
awaitable<std::size_t> clean_when_others_have_ended(auto& on)
{
    steady_timer pause(co_await asio::this_coro::executor);
    for (int tries = 0; tries < 600; ++tries) {
        const auto removed = (co_await on.janitor.clean(content_place::directory)).value();
        if (removed > 0)
            co_return removed;
        pause.expires_after(std::chrono::milliseconds(100));
        co_await pause.async_wait(use_tuple);
    }
    co_return 0;
}

TEST_F(content_rows_test, the_janitor_takes_old_bytes_that_it_has_seen_twice_without_a_row)
{
    with_shard([&](shard& on) -> awaitable<void> {
        const auto kept = make_uuid_v7();
        db.sql(insert_row(kept, plant(kept)));
        const auto orphan = plant(make_uuid_v7());
        EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 2u);
        EXPECT_EQ(co_await clean_when_others_have_ended(on), 1u);
        const std::vector<std::string> left{
            make_content_key(kept, parse_rfc3339("2020-01-01T00:00:00Z").value())};
        EXPECT_EQ(stored(), left);
        EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
    });
}

TEST_F(content_rows_test, the_janitor_leaves_what_is_queued_for_removal)
{
    with_shard([&](shard& on) -> awaitable<void> {
        const auto file = make_uuid_v7();
        db.sql(insert_row(file, plant(file)));
        db.sql("DELETE FROM pending_uploads");
        const std::vector<std::string> keys = stored();
        EXPECT_TRUE((co_await content_rows(on.pool).without_row(keys))->keys.empty());
        // Once it has left the queue without its bytes, it is a leftover like any other.
        db.sql("DELETE FROM content_removals");
        EXPECT_EQ((co_await content_rows(on.pool).without_row(keys))->keys, keys);
    });
}

TEST_F(content_rows_test, the_janitor_leaves_bytes_that_are_older_than_the_database)
{
    with_shard([&](shard& on) -> awaitable<void> {
        plant(make_uuid_v7());
        db.sql("UPDATE schema_migrations SET applied_at = '2020-01-01 01:00:00Z'");
        for (int pass = 0; pass < 3; ++pass)
            EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 1u);
        db.sql("UPDATE schema_migrations SET applied_at = '2020-01-01 00:59:59Z'");
        EXPECT_EQ(co_await clean_when_others_have_ended(on), 1u);
    });
}

TEST_F(content_rows_test, the_janitor_leaves_what_may_be_somebody_elses)
{
    with_shard([&](shard& on) -> awaitable<void> {
        plant(make_uuid_v7());
        EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        on.contents.keep_leftovers(content_place::directory, "the test says so");
        for (int pass = 0; pass < 3; ++pass)
            EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 1u);
    });
}

TEST_F(content_rows_test, the_janitor_waits_for_transactions_that_may_still_commit)
{
    with_shard([&](shard& on) -> awaitable<void> {
        const auto file = make_uuid_v7();
        const auto key = plant(file);
        const auto text = insert_row(file, key);
        const statement insert{"insert_in_doubt", text.c_str()};
        const pq::parameters none;
        auto doubtful = co_await on.pool.begin();
        EXPECT_TRUE((co_await doubtful->execute(insert, none)).has_value());
        for (int pass = 0; pass < 4; ++pass)
            EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_TRUE((co_await doubtful->commit()).has_value());
        for (int pass = 0; pass < 3; ++pass)
            EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 1u);
    });
}

TEST_F(content_rows_test, young_bytes_are_left_alone)
{
    with_shard([&](shard& on) -> awaitable<void> {
        const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
        const std::vector<content_to_store> one{
            {make_content_key(make_uuid_v7(), now), std::make_shared<test::text_content>("text"), {}}};
        EXPECT_FALSE(co_await on.contents.write(content_place::directory, one));
        for (int pass = 0; pass < 3; ++pass)
            EXPECT_EQ((co_await on.janitor.clean(content_place::directory)).value(), 0u);
        EXPECT_EQ(stored().size(), 1u);
    });
}

TEST_F(content_rows_test, a_row_has_bytes_or_a_key_and_a_size_that_fits_its_place)
{
    const auto refused = [&](const std::string& columns, const std::string& values) {
        const auto all = "INSERT INTO pending_uploads (workspace_id, filename, sha256, " + columns +
                         ") VALUES (gen_random_uuid(), 'a', sha256(''), " + values + ")";
        try {
            db.sql(all);
            return false;
        } catch (const std::exception&) {
            return true;
        }
    };
    EXPECT_FALSE(refused("size_bytes, content", "3, 'abc'")) << "as an older server writes";
    EXPECT_FALSE(refused("size_bytes, content_place, content_key", "5368709120, 's3', 'k'"));
    EXPECT_TRUE(refused("size_bytes, content_place, content_key", "5368709121, 's3', 'k'"));
    EXPECT_TRUE(refused("size_bytes, content_place", "3, 'directory'"));
    EXPECT_TRUE(refused("size_bytes, content_place, content_key, content", "3, 'directory', 'k', 'abc'"));
    EXPECT_TRUE(refused("size_bytes, content, content_key", "3, 'abc', 'k'"));
    EXPECT_TRUE(refused("size_bytes", "3"));
    EXPECT_TRUE(refused("size_bytes, content_place, content_key", "3, 'tape', 'k'"));
    EXPECT_TRUE(refused("size_bytes, content", "26214401, repeat('x', 26214401)::bytea"));
}

}  // namespace
}  // namespace restante
