#include "storage/staging.hpp"

#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::make_file;
using test::make_upload;
using store = test::upload_store;

class staging_files : public ::testing::Test {
protected:
    staging_files() { test::apply_schema(db); }

    template <class Body>
    void with_store(Body body, unsigned connections = 4)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            store s(ex, db, connections);
            const auto work = [&] { return body(s); };
            co_await test::with_running(s.pool, work);
        });
    }

    std::string rows() { return db.ask("SELECT count(*) FROM pending_uploads"); }
    std::string activities() { return db.ask("SELECT count(*) FROM activity_logs"); }

    static std::vector<new_file> three_files()
    {
        std::vector<new_file> files;
        for (const char* name : {"a.txt", "b.txt", "c.txt"})
            files.push_back(make_file(name, std::string("text of ") + name));
        return files;
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
};

TEST_F(staging_files, a_batch_of_three_is_three_files_three_activities_and_three_events)
{
    with_store([&](store& s) -> awaitable<void> {
        auto load = make_upload(workspace, three_files());
        auto done = co_await s.stage.stage(std::move(load));
        EXPECT_TRUE(done.has_value());
        EXPECT_EQ(rows(), "3");
        EXPECT_EQ(activities(), "3");
        EXPECT_EQ(db.ask("SELECT string_agg(summary || seq, ' ' ORDER BY seq) FROM activity_logs"),
                  "chat_upload_receive: a.txt1 chat_upload_receive: b.txt2 chat_upload_receive: c.txt3");
        EXPECT_EQ(s.listener.heard.size(), 3u);
        EXPECT_EQ(s.listener.heard[2]->seq, 3);
        EXPECT_EQ(
            db.ask(
                "SELECT count(*) FROM pending_uploads p JOIN activity_logs a ON a.id = p.activity_id WHERE "
                "sha256(p.content) = p.sha256"),
            "3");
        EXPECT_EQ(db.ask("SELECT expires_at - created_at = interval '24 hours' FROM pending_uploads LIMIT 1"),
                  "t");
    });
}

TEST_F(staging_files, large_files_are_copied_byte_for_byte_beside_small_ones)
{
    with_store([&](store& s) -> awaitable<void> {
        std::string big(3 << 20, 'x');
        for (std::size_t i = 0; i < big.size(); i += 7)
            big[i] = static_cast<char>(i);
        std::vector<new_file> files;
        files.push_back(make_file("small", "s"));
        files.push_back(make_file("big", big, true));
        auto load = make_upload(workspace, std::move(files));
        auto done = co_await s.stage.stage(std::move(load));
        EXPECT_TRUE(done.has_value()) << done.error().message();
        EXPECT_EQ(
            db.ask("SELECT string_agg(size_bytes::text, ',' ORDER BY size_bytes) FROM pending_uploads WHERE "
                   "sha256(content) = sha256"),
            "1,3145728");
        EXPECT_EQ(s.listener.heard.size(), 2u);
    });
}

TEST_F(staging_files, a_refused_second_activity_row_stores_nothing_and_tells_nobody)
{
    db.sql("ALTER TABLE activity_logs ADD CHECK (summary NOT LIKE '%b.txt')");
    with_store([&](store& s) -> awaitable<void> {
        auto load = make_upload(workspace, three_files());
        auto done = co_await s.stage.stage(std::move(load));
        EXPECT_EQ(done.error(), errc::could_not_log);
        EXPECT_EQ(rows() + activities(), "00");
        EXPECT_TRUE(s.listener.heard.empty());
        // The sequence number was rolled back: the next one leaves no gap.
        std::vector<new_file> one;
        one.push_back(make_file("ok", "x"));
        auto next = make_upload(workspace, std::move(one));
        EXPECT_TRUE((co_await s.stage.stage(std::move(next))).has_value());
        EXPECT_EQ(s.listener.heard.at(0)->seq, 1);
    });
}

TEST_F(staging_files, a_refused_second_file_row_stores_nothing)
{
    db.sql("ALTER TABLE pending_uploads ADD CHECK (filename <> 'b.txt')");
    with_store([&](store& s) -> awaitable<void> {
        auto load = make_upload(workspace, three_files());
        auto done = co_await s.stage.stage(std::move(load));
        EXPECT_EQ(done.error(), errc::could_not_stage);
        EXPECT_EQ(rows() + activities(), "00");
        EXPECT_TRUE(s.listener.heard.empty());
    });
}

TEST_F(staging_files, a_commit_that_is_refused_stores_nothing_and_tells_nobody)
{
    // Every statement succeeds; only COMMIT fails.
    db.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON activity_logs DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION refuse()");
    with_store([&](store& s) -> awaitable<void> {
        auto load = make_upload(workspace, three_files());
        EXPECT_FALSE((co_await s.stage.stage(std::move(load))).has_value());
        EXPECT_EQ(rows() + activities(), "00");
        EXPECT_TRUE(s.listener.heard.empty());
    });
}

TEST_F(staging_files, sixty_four_files_keep_their_order)
{
    with_store([&](store& s) -> awaitable<void> {
        std::vector<new_file> files;
        for (int i = 0; i < 64; ++i)
            files.push_back(make_file("f" + std::to_string(i), std::to_string(i)));
        auto load = make_upload(workspace, std::move(files));
        EXPECT_TRUE((co_await s.stage.stage(std::move(load))).has_value());
        EXPECT_EQ(
            db.ask("SELECT bool_and(summary = 'chat_upload_receive: f' || (seq - 1)) FROM activity_logs"),
            "t");
        EXPECT_EQ(db.ask("SELECT count(*) || '-' || max(seq) FROM activity_logs"), "64-64");
    });
}

TEST_F(staging_files, requests_that_share_a_commit_are_each_all_or_none)
{
    db.sql("ALTER TABLE pending_uploads ADD CHECK (filename <> 'bad')");
    with_store([&](store& s) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        int stored = 0, refused = 0, ended = 0;
        const auto send = [&](uuid to, std::string name) -> awaitable<void> {
            std::vector<new_file> files;
            files.push_back(make_file("good", "x"));
            files.push_back(make_file(name, "y"));
            auto load = make_upload(to, std::move(files));
            auto done = co_await s.stage.stage(std::move(load));
            stored += done.has_value();
            refused += !done && done.error() == errc::could_not_stage;
            ++ended;
        };
        const uuid other = make_uuid_v4();
        for (int i = 0; i < 60; ++i)
            asio::co_spawn(ex, send(i % 3 ? workspace : other, i == 30 ? "bad" : "fine"),
                           [](std::exception_ptr) {});
        steady_timer tick(ex);
        for (int i = 0; i < 2000 && ended < 60; ++i) {
            tick.expires_after(5ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(stored, 59);
        EXPECT_EQ(refused, 1);
        EXPECT_EQ(rows(), "118");
        EXPECT_EQ(s.listener.heard.size(), 118u);
        EXPECT_EQ(
            db.ask(
                "SELECT bool_and(n = top) FROM (SELECT count(*) n, max(seq) top FROM activity_logs GROUP BY "
                "workspace_id) x"),
            "t");
        // Group commit must need fewer transactions than requests.
        EXPECT_LT(std::stoi(db.ask("SELECT count(*) FROM upload_requests")), 50);
    });
}

TEST_F(staging_files, an_upload_of_the_same_key_and_files_is_answered_from_the_first)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto with_key = [&](std::string text, std::string answer) {
            std::vector<new_file> files;
            files.push_back(make_file("a", text));
            auto load = make_upload(workspace, std::move(files));
            load.keys.push_back(request_key::of_client("k-1", sha256_of(text)));
            load.answer = std::make_shared<const std::string>(answer);
            return load;
        };
        auto first = with_key("one", "first answer");
        auto done = co_await s.stage.stage(std::move(first));
        EXPECT_FALSE(done.value().earlier_answer);
        auto again = with_key("one", "second answer");
        auto replay = co_await s.stage.stage(std::move(again));
        EXPECT_EQ(replay.value().earlier_answer, "first answer");
        EXPECT_EQ(replay.value().expires_at, done.value().expires_at);
        auto other = with_key("two", "x");
        EXPECT_EQ((co_await s.stage.stage(std::move(other))).error(), errc::idempotency_key_reused);
        EXPECT_EQ(rows() + activities(), "11");
        db.sql("UPDATE upload_requests SET expires_at = now() - interval '1 second'");
        auto later = with_key("two", "x");
        EXPECT_EQ((co_await s.stage.stage(std::move(later))).error(), errc::idempotency_key_running);
        auto retry = with_key("two", "x");
        EXPECT_TRUE((co_await s.stage.stage(std::move(retry))).has_value());
    });
}

TEST_F(staging_files, a_settled_fence_tells_the_truth_and_bars_a_late_commit)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto fence = upload_requests::make_fence();
        auto lost = co_await s.pool.begin();
        s.requests.queue_fence(*lost, workspace, fence);
        EXPECT_TRUE((co_await lost->commit()).has_value());
        auto stored = co_await s.requests.settle(workspace, fence, 5s);
        EXPECT_TRUE(stored.value().has_value());

        const auto late = upload_requests::make_fence();
        auto nothing = co_await s.requests.settle(workspace, late, 5s);
        EXPECT_FALSE(nothing.value().has_value());
        auto too_late = co_await s.pool.begin();
        s.requests.queue_fence(*too_late, workspace, late);
        EXPECT_EQ((co_await too_late->commit()).error(), errc::unique_violation);
    });
}

TEST_F(staging_files, validation_comes_before_any_sql_and_is_the_same_in_all_puts)
{
    with_store([&](store& s) -> awaitable<void> {
        for (const auto& [name, size, expected] : {std::tuple{"", 1, errc::invalid_file},
                                                   {"x", 0, errc::invalid_file},
                                                   {"x", 26'214'401, errc::too_large}}) {
            const auto bad = make_file(name, std::string(static_cast<std::size_t>(size), 'z'));
            EXPECT_EQ((co_await s.uploads.put(workspace, bad)).error(), expected);
            std::vector<new_file> pair{make_file("fine", "f"), bad};
            EXPECT_EQ((co_await s.uploads.put_batch(workspace, pair)).error(), expected);
            auto tx = co_await s.pool.begin();
            EXPECT_EQ((co_await s.uploads.put_batch_tx(*tx, workspace, pair)).error(), expected);
        }
        std::vector<new_file> none;
        EXPECT_TRUE((co_await s.uploads.put_batch(workspace, none)).value().empty());
        EXPECT_EQ(rows(), "0");
        std::vector<new_file> files = three_files();
        std::vector<uuid> expected;
        for (const auto& file : files)
            expected.push_back(file.file_id);
        {
            auto tx = co_await s.pool.begin();
            EXPECT_EQ((co_await s.uploads.put_batch_tx(*tx, workspace, files)).value(), expected);
            EXPECT_TRUE((co_await tx->flush()).has_value());
            EXPECT_EQ(rows(), "0") << "put_batch_tx never commits";
        }
        EXPECT_EQ((co_await s.uploads.put_batch(workspace, files)).value(), expected);
        EXPECT_EQ(rows(), "3");
    });
}

TEST_F(staging_files, without_the_table_it_says_so)
{
    db.sql("DROP TABLE pending_uploads");
    with_store([&](store& s) -> awaitable<void> {
        auto load = make_upload(workspace, three_files());
        EXPECT_EQ((co_await s.stage.stage(std::move(load))).error(), errc::schema_missing);
        EXPECT_EQ(activities(), "0");
    });
}

}  // namespace
}  // namespace restante
