// How much may wait for a workspace: exactly that, whatever happens at the same time.
#include "http/message/public_errors.hpp"
#include "storage/quota_store.hpp"
#include "storage/sweep.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::make_file;
using test::make_upload;
using test::upload_store;

std::string_view public_name(const error_code& ec)
{
    return public_error_of(to_errc(ec)).code;
}

const std::string old_publish =
    "publish_checked(NULL, ARRAY['%w']::uuid[], ARRAY[gen_random_uuid()], '{error}', NULL, NULL, NULL, NULL, "
    "NULL, NULL, NULL, NULL, NULL, NULL)";

class quotas : public ::testing::Test {
protected:
    quotas()
    {
        test::apply_schema(db);
        db.sql("INSERT INTO workspaces (id, delivery_mode) VALUES ('" + to_string(workspace) +
               "', 'poll'), ('" + to_string(other) + "', 'poll')");
    }

    template <class Body>
    void with_store(quota_limits limits, Body body, unsigned connections = 4)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            upload_store store(ex, db, connections, limits);
            quota_store quotas(store.pool, limits);
            const auto work = [&]() -> awaitable<void> { co_await body(store, quotas); };
            co_await test::with_running(store.pool, work);
        });
    }

    static awaitable<error_code> send(upload_store& store, uuid to, std::vector<std::size_t> sizes,
                                      std::string key = {})
    {
        std::vector<new_file> files;
        for (const auto size : sizes)
            files.push_back(make_file("a", std::string(size, 'x'), size > 500'000));
        auto load = make_upload(to, std::move(files));
        load.answer = std::make_shared<const std::string>("{}");
        if (!key.empty())
            load.keys.push_back(request_key::of_client(key, digest32{}));
        const auto done = co_await store.stage.stage(std::move(load));
        co_return done ? error_code{} : done.error();
    }

    std::string waiting(const uuid& of)
    {
        return db.ask(
            "SELECT coalesce(sum(size_bytes), 0) || ' in ' || count(*) FROM pending_uploads WHERE acked_at "
            "IS NULL AND expires_at > now() AND workspace_id = '" +
            to_string(of) + "'");
    }

    // One upload of a server that knows nothing of quotas.
    void upload_as_before(const uuid& to, int bytes)
    {
        auto call = old_publish;
        call.replace(call.find("%w"), 2, to_string(to));
        db.sql(
            "BEGIN; INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256) SELECT "
            "'" +
            to_string(to) + "', c, octet_length(c), 'f', sha256(c) FROM convert_to(repeat('x', " +
            std::to_string(bytes) + "), 'UTF8') AS c; SELECT seq FROM " + call + "; COMMIT");
    }

    void expire_all()
    {
        db.sql("UPDATE pending_uploads SET expires_at = now() - interval '1 s' WHERE acked_at IS NULL");
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
    const uuid other = make_uuid_v4();
};

TEST_F(quotas, the_last_byte_fits_and_the_next_does_not)
{
    with_store({.bytes = 100, .files = 0}, [&](upload_store& store, quota_store&) -> awaitable<void> {
        EXPECT_FALSE(co_await send(store, workspace, {60}));
        EXPECT_EQ(co_await send(store, workspace, {41}), errc::quota_exceeded);
        EXPECT_EQ(co_await send(store, workspace, {20, 21}), errc::quota_exceeded) << "all or none";
        EXPECT_FALSE(co_await send(store, workspace, {30, 10}));
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
        EXPECT_FALSE(co_await send(store, other, {100})) << "each workspace has its own";
        EXPECT_EQ(waiting(workspace), "100 in 3");
        EXPECT_EQ(db.ask("SELECT count(*) FROM activity_logs"), "4") << "a refused upload leaves nothing";
    });
}

TEST_F(quotas, files_are_counted_too_and_large_ones_like_small_ones)
{
    with_store({.bytes = 0, .files = 3}, [&](upload_store& store, quota_store&) -> awaitable<void> {
        EXPECT_EQ(co_await send(store, workspace, {1, 1, 1, 1}), errc::quota_exceeded);
        EXPECT_FALSE(co_await send(store, workspace, {2'000'000, 1}));
        EXPECT_EQ(co_await send(store, workspace, {2'000'000, 1}), errc::quota_exceeded);
        EXPECT_FALSE(co_await send(store, workspace, {2'000'000}));
        EXPECT_EQ(waiting(workspace), "4000001 in 3");
    });
}

TEST_F(quotas, an_ack_and_expiry_free_at_once)
{
    with_store({.bytes = 100, .files = 0}, [&](upload_store& store, quota_store& all) -> awaitable<void> {
        EXPECT_FALSE(co_await send(store, workspace, {40}));
        EXPECT_FALSE(co_await send(store, workspace, {60}));
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
        const std::vector<file_to_ack> one{
            {*parse_uuid(db.ask("SELECT file_id FROM pending_uploads WHERE size_bytes = 40"))}};
        EXPECT_EQ((co_await store.uploads.ack(workspace, one))->size(), 1u);
        EXPECT_EQ((co_await all.read(workspace))->used.bytes, 60);
        EXPECT_EQ(co_await send(store, workspace, {41}), errc::quota_exceeded);
        EXPECT_FALSE(co_await send(store, workspace, {40}));
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);

        expire_all();  // and nobody sweeps
        EXPECT_EQ((co_await all.read(workspace))->used.files, 0);
        EXPECT_FALSE(co_await send(store, workspace, {100}));
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
    });
}

TEST_F(quotas, a_full_workspace_still_gets_messages)
{
    with_store({.bytes = 0, .files = 1}, [&](upload_store& store, quota_store&) -> awaitable<void> {
        EXPECT_FALSE(co_await send(store, workspace, {1}));
        for (int i = 0; i < 2; ++i) {
            activity row{.id = make_uuid_v7(), .workspace_id = workspace, .activity_type = "agent_log"};
            EXPECT_TRUE((co_await store.log.log_activity(std::move(row))).has_value());
        }
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
    });
}

TEST_F(quotas, a_workspace_may_have_limits_of_its_own)
{
    with_store({.bytes = 100, .files = 2}, [&](upload_store& store, quota_store& all) -> awaitable<void> {
        using limit = std::optional<std::int64_t>;
        const quota_change more{.bytes = limit(1000)}, none{.bytes = limit(0), .files = limit(0)},
            reset{.bytes = limit(), .files = limit()};
        EXPECT_TRUE((co_await all.change(workspace, more)).has_value());
        EXPECT_FALSE(co_await send(store, workspace, {900}));
        EXPECT_EQ(co_await send(store, workspace, {101}), errc::quota_exceeded);
        EXPECT_TRUE((co_await all.change(workspace, none)).has_value());
        EXPECT_FALSE(co_await send(store, workspace, {5000, 1, 1}));
        const auto now = co_await all.read(workspace);
        EXPECT_EQ(now->used.bytes, 5902);
        EXPECT_EQ(now->limits.bytes, 0);
        EXPECT_TRUE((co_await all.change(workspace, reset)).has_value());
        EXPECT_EQ((co_await all.read(workspace))->limits.bytes, 100);
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
        EXPECT_EQ((co_await all.change(make_uuid_v4(), more)).error(), errc::workspace_not_found);
        EXPECT_EQ((co_await all.read(make_uuid_v4())).error(), errc::workspace_not_found);
    });
}

TEST_F(quotas, what_an_older_server_stores_counts)
{
    with_store({.bytes = 100, .files = 0}, [&](upload_store& store, quota_store&) -> awaitable<void> {
        upload_as_before(workspace, 50);  // before this server has ever seen the workspace
        EXPECT_EQ(co_await send(store, workspace, {51}), errc::quota_exceeded);
        EXPECT_FALSE(co_await send(store, workspace, {10}));
        upload_as_before(workspace, 30);
        EXPECT_EQ(co_await send(store, workspace, {11}), errc::quota_exceeded);
        // What it acks and sweeps does not count any longer.
        db.sql("UPDATE pending_uploads SET acked_at = now() WHERE size_bytes = 50");
        db.sql("DELETE FROM pending_uploads WHERE size_bytes = 30");
        EXPECT_FALSE(co_await send(store, workspace, {90}));
        EXPECT_EQ(co_await send(store, workspace, {1}), errc::quota_exceeded);
        EXPECT_EQ(waiting(workspace), "100 in 2");
    });
}

TEST_F(quotas, of_a_group_only_the_one_that_does_not_fit_is_refused)
{
    with_store(
        {.bytes = 100, .files = 0},
        [&](upload_store& store, quota_store&) -> awaitable<void> {
            EXPECT_FALSE(co_await send(store, workspace, {100}));
            const executor ex = co_await asio::this_coro::executor;
            // Both transactions of the shard wait for this one, so that the rest comes as one group.
            auto block = co_await store.pool.begin();
            static const statement lock{
                "lock", "SELECT FROM activity_heads WHERE workspace_id = $1::uuid FOR UPDATE"};
            const pq::parameters with(workspace);
            EXPECT_TRUE((co_await block->execute(lock, with)).has_value());
            std::map<std::string, int> outcomes;
            const auto one = [&](uuid to, std::size_t size) -> awaitable<void> {
                const std::vector<std::size_t> sizes{size};
                const auto ec = co_await send(store, to, sizes);
                ++outcomes[(to == workspace ? "full: " : "other: ") +
                           (ec ? std::string(public_name(ec)) : "stored")];
            };
            task_group tasks(ex);
            for (int i = 0; i < 2; ++i)
                tasks.spawn("full", one(workspace, 1));
            for (int i = 0; i < 6; ++i) {
                tasks.spawn("other", one(make_uuid_v4(), 10));
                tasks.spawn("full", one(workspace, 1));
            }
            steady_timer pause(ex, 200ms);
            co_await pause.async_wait(use_tuple);
            EXPECT_TRUE((co_await block->commit()).has_value());
            EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 20s));
            EXPECT_EQ(outcomes,
                      (std::map<std::string, int>{{"full: quota_exceeded", 8}, {"other: stored", 6}}));
            EXPECT_EQ(waiting(workspace), "100 in 1");
        },
        4);
}

TEST_F(quotas, a_repetition_of_a_stored_request_is_answered_although_the_workspace_is_full)
{
    with_store({.bytes = 100, .files = 0}, [&](upload_store& store, quota_store&) -> awaitable<void> {
        EXPECT_FALSE(co_await send(store, workspace, {100}, "key"));
        EXPECT_FALSE(co_await send(store, workspace, {100}, "key"));
        EXPECT_TRUE(co_await store.stage.has_used(workspace, "key"));
        EXPECT_FALSE(co_await store.stage.has_used(workspace, "another"));
        EXPECT_FALSE(co_await store.stage.has_used(other, "key"));
        EXPECT_EQ(waiting(workspace), "100 in 1");
    });
}

TEST_F(quotas, estimates_are_never_too_low_and_are_put_right)
{
    with_store({.bytes = 1000, .files = 0}, [&](upload_store& store, quota_store& all) -> awaitable<void> {
        EXPECT_FALSE(co_await send(store, workspace, {600}));
        EXPECT_FALSE(co_await send(store, other, {100}));
        db.sql("UPDATE pending_uploads SET acked_at = now() WHERE size_bytes = 600");
        EXPECT_EQ((co_await all.estimate(workspace))->used.bytes, 600);
        EXPECT_EQ((co_await all.read(workspace))->used.bytes, 0);
        const auto fullest = co_await all.fullest();
        EXPECT_EQ((*fullest)->id, other) << "by what waits, not by the estimate";
        EXPECT_DOUBLE_EQ((*fullest)->share, 0.1);
        EXPECT_FALSE(co_await all.recount_some());
        EXPECT_FALSE(all.has_more_to_recount());
        EXPECT_EQ((co_await all.estimate(workspace))->used.bytes, 0);
        upload_as_before(other, 700);
        EXPECT_FALSE(co_await all.recount_some());
        EXPECT_EQ((co_await all.estimate(other))->used.bytes, 800);
        EXPECT_DOUBLE_EQ((*(co_await all.fullest()))->share, 0.8);
        const auto listed = co_await all.all_waiting();
        EXPECT_EQ(listed->size(), 1u);
        EXPECT_EQ(listed->front().used.bytes, 800);
    });
}

TEST_F(quotas, many_workspaces_are_recounted_in_short_steps)
{
    db.sql(
        "INSERT INTO activity_heads (workspace_id, seq, last_at) SELECT gen_random_uuid(), 1, now() FROM "
        "generate_series(1, 2500)");
    with_store({.bytes = 1000, .files = 0}, [&](upload_store&, quota_store& all) -> awaitable<void> {
        int calls = 0;
        do {
            EXPECT_FALSE(co_await all.recount_some());
        } while (all.has_more_to_recount() && ++calls < 1000);
        EXPECT_GT(calls, 100);
        EXPECT_EQ(db.ask("SELECT count(*) FROM activity_heads WHERE counted_seq = seq"), "2500");
        calls = 0;
        do {
            EXPECT_FALSE(co_await all.recount_some());
        } while (all.has_more_to_recount() && ++calls < 1000);
        EXPECT_LE(calls, 3) << "nothing is left to do";
    });
}

// 32 writers, 8 that ack and 4 that sweep, on three workspaces.
// Some transactions fail at COMMIT, sessions are killed, files expire in between. At every commit, a
// trigger counts what waits: it must never be more than the limit, and nobody may be refused while it is
// less.
TEST_F(quotas, hold_under_32_writers_with_failures)
{
    constexpr std::int64_t limit = 40;
    db.sql(
        "CREATE TABLE seen (workspace_id uuid, waiting bigint); "
        "CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO seen SELECT new.workspace_id, files FROM count_waiting(new.workspace_id); "
        "IF random() < 0.03 THEN RAISE EXCEPTION 'struck' USING ERRCODE = '40001'; END IF; "
        "RETURN NULL; END $$; "
        "CREATE CONSTRAINT TRIGGER watch AFTER INSERT ON activity_logs DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION watch()");
    const std::vector<uuid> workspaces{workspace, other, make_uuid_v4()};
    with_store(
        {.bytes = 0, .files = limit},
        [&](upload_store& store, quota_store&) -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            const auto end = std::chrono::steady_clock::now() + 8s;
            std::map<std::string, int> outcomes;
            const auto writer = [&](unsigned seed) -> awaitable<void> {
                std::minstd_rand random(seed);
                while (std::chrono::steady_clock::now() < end) {
                    const auto to = workspaces[random() % workspaces.size()];
                    const std::vector<std::size_t> sizes(1 + random() % 4, random() % 20 ? 10 : 1'200'000);
                    const auto ec = co_await send(store, to, sizes);
                    ++outcomes[ec ? std::string(public_name(ec)) : "stored"];
                }
            };
            const auto acker = [&](unsigned seed) -> awaitable<void> {
                std::minstd_rand random(seed);
                steady_timer pause(ex);
                while (std::chrono::steady_clock::now() < end) {
                    const auto from = workspaces[random() % workspaces.size()];
                    const auto files = co_await store.uploads.list(from, 2, std::nullopt);
                    std::vector<file_to_ack> some;
                    for (const auto& file : files.value())
                        some.push_back({file.file_id});
                    if (!some.empty())
                        outcomes["acks"] += (co_await store.uploads.ack(from, some)).has_value();
                    pause.expires_after(std::chrono::milliseconds(random() % 100));
                    co_await pause.async_wait(use_tuple);
                }
            };
            const auto sweeper = [&]() -> awaitable<void> {
                storage_sweep sweep(store.pool);
                task_group own(ex);
                steady_timer pause(ex);
                while (std::chrono::steady_clock::now() < end) {
                    db.sql(
                        "UPDATE pending_uploads SET expires_at = now() - interval '1 s' WHERE file_id IN "
                        "(SELECT file_id FROM pending_uploads WHERE acked_at IS NULL ORDER BY random() "
                        "LIMIT 1 FOR UPDATE SKIP LOCKED)");
                    const sweep_time time(own, 1s);
                    EXPECT_FALSE((co_await sweep.sweep(0s, time)).failure);
                    pause.expires_after(50ms);
                    co_await pause.async_wait(use_tuple);
                }
            };
            const auto killer = [&]() -> awaitable<void> {
                steady_timer pause(ex);
                while (std::chrono::steady_clock::now() < end) {
                    pause.expires_after(300ms);
                    co_await pause.async_wait(use_tuple);
                    db.sql(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                        "current_database() AND pid <> pg_backend_pid() AND query LIKE '%publish_counted%' "
                        "LIMIT 1");
                }
            };
            task_group tasks(ex);
            for (unsigned i = 0; i < 32; ++i)
                tasks.spawn("writer", writer(i + 1));
            for (unsigned i = 0; i < 8; ++i)
                tasks.spawn("acker", acker(i + 100));
            for (unsigned i = 0; i < 4; ++i)
                tasks.spawn("sweeper", sweeper());
            tasks.spawn("killer", killer());
            EXPECT_TRUE(co_await tasks.finished(end + 60s));
            std::string told;
            for (const auto& [what, count] : outcomes)
                told += what + " " + std::to_string(count) + ", ";
            RecordProperty("outcomes", told);
            std::cout << told << db.ask("SELECT max(waiting) FROM seen") << " at most\n";
            EXPECT_GT(outcomes["stored"], 50);
            EXPECT_GT(outcomes["quota_exceeded"], 20);
            EXPECT_GT(outcomes["acks"], 20);
            EXPECT_EQ(db.ask("SELECT max(waiting) <= " + std::to_string(limit) + " FROM seen"), "t");
            EXPECT_EQ(db.ask("SELECT count(*) > 0 FROM seen WHERE waiting = " + std::to_string(limit)), "t")
                << "the last place was used";
            // An estimate is never below the truth.
            EXPECT_EQ(db.ask("SELECT count(*) FROM activity_heads AS h, count_waiting(h.workspace_id) AS c "
                             "WHERE h.counted_seq = h.seq AND h.waiting_files < c.files"),
                      "0");
        },
        12);
}

}  // namespace
}  // namespace restante
