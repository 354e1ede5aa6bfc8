// Writes under hostile circumstances: what was revoked, removed or locked while a request was on its way.
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
using steady = std::chrono::steady_clock;

class attacked_writes : public ::testing::Test {
protected:
    attacked_writes()
    {
        test::apply_schema(db);
        for (const auto& id : {workspace, other})
            db.sql("INSERT INTO workspaces (id, delivery_mode) VALUES ('" + to_string(id) + "', 'poll')");
        db.sql("INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix) VALUES ('" +
               to_string(token) + "', '" + to_string(workspace) + "', sha256('x'), '12345678')");
    }

    template <class Body>
    void with_store(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            store s(ex, db, 6);
            const auto work = [&] { return body(s); };
            co_await test::with_running(s.pool, work);
        });
    }

    upload one_file(const uuid& to, std::optional<uuid> with = {}, bool on_disk = false)
    {
        std::vector<new_file> files;
        files.push_back(make_file("a.txt", "text", on_disk));
        auto load = make_upload(to, std::move(files));
        load.token = with;
        return load;
    }

    upload message(const std::string& id, const std::string& answer)
    {
        upload made{.workspace = workspace};
        auto row = std::make_shared<feed_entry>();
        row->what.id = make_uuid_v7();
        row->what.workspace_id = workspace;
        row->what.activity_type = "a2a_receive";
        row->what.request_body = "{\"answer\":\"" + answer + "\"}";
        made.activities.push_back(std::move(row));
        made.answer = std::make_shared<const std::string>(answer);
        made.keys.push_back(request_key::of_message(id, 24h));
        return made;
    }

    // 40 requests to a locked workspace and 40 to others, at once: the others are stored, the locked ones
    // refused.
    template <class Make>
    void crowd_a_locked_workspace(Make make)
    {
        with_store([&](store& s) -> awaitable<void> {
            auto first = one_file(workspace);
            EXPECT_TRUE((co_await s.stage.stage(std::move(first))).has_value());
            auto holder = co_await s.pool.begin();
            const statement lock{"lock_head", "SELECT FROM activity_heads FOR UPDATE"};
            const pq::parameters none;
            EXPECT_TRUE((co_await holder->execute(lock, none)).has_value());

            int refused = 0, fine = 0, ended = 0;
            steady::duration slowest{};
            const executor ex = co_await asio::this_coro::executor;
            const auto send = [&](uuid to) -> awaitable<void> {
                const auto began = steady::now();
                upload load = make(to);
                const auto done = co_await s.stage.stage(std::move(load));
                refused +=
                    !done && (done.error() == errc::database_busy || done.error() == errc::database_timeout);
                fine += done.has_value();
                if (to != workspace)
                    slowest = std::max(slowest, steady::now() - began);
                ++ended;
            };
            for (int i = 0; i < 40; ++i) {
                asio::co_spawn(ex, send(workspace), [](std::exception_ptr) {});
                asio::co_spawn(ex, send(make_uuid_v4()), [](std::exception_ptr) {});
            }
            steady_timer tick(ex);
            for (int i = 0; i < 1500 && ended < 80; ++i) {
                tick.expires_after(10ms);
                co_await tick.async_wait(use_await);
            }
            EXPECT_EQ(refused, 40);
            EXPECT_EQ(fine, 40);
            // A lock wait of one second, and room for a loaded machine; it was 21 s before.
            EXPECT_LT(slowest, 6s);
        });
    }

    // Other tests have databases of their own in the same PostgreSQL.
    bool waits_for_lock()
    {
        return db.ask(
                   "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
                   "WHERE NOT granted AND datname = current_database()") != "0";
    }

    std::string stored()
    {
        return db.ask("SELECT (SELECT count(*) FROM pending_uploads) || ' ' || count(*) FROM activity_logs");
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
    const uuid other = make_uuid_v4();
    const uuid token = make_uuid_v4();
};

TEST_F(attacked_writes, a_token_that_was_revoked_meanwhile_stores_nothing)
{
    with_store([&](store& s) -> awaitable<void> {
        auto before = one_file(workspace, token);
        EXPECT_TRUE((co_await s.stage.stage(std::move(before))).has_value());
        db.sql("UPDATE workspace_auth_tokens SET revoked_at = now()");
        auto small = one_file(workspace, token);
        EXPECT_EQ((co_await s.stage.stage(std::move(small))).error(), errc::invalid_token);
        auto large = one_file(workspace, token, true);
        EXPECT_EQ((co_await s.stage.stage(std::move(large))).error(), errc::invalid_token);
        auto by_admin = one_file(workspace);
        EXPECT_TRUE((co_await s.stage.stage(std::move(by_admin))).has_value());
        EXPECT_EQ(stored(), "2 2");
        EXPECT_EQ(s.listener.heard.size(), 2u);
    });
}

TEST_F(attacked_writes, a_workspace_that_was_removed_meanwhile_takes_nothing)
{
    with_store([&](store& s) -> awaitable<void> {
        db.sql("UPDATE workspaces SET removed_at = now() WHERE id = '" + to_string(workspace) + "'");
        auto small = one_file(workspace);
        EXPECT_EQ((co_await s.stage.stage(std::move(small))).error(), errc::workspace_not_found);
        auto large = one_file(workspace, {}, true);
        EXPECT_EQ((co_await s.stage.stage(std::move(large))).error(), errc::workspace_not_found);
        auto text = message("m-1", "a");
        EXPECT_EQ((co_await s.stage.stage(std::move(text))).error(), errc::workspace_not_found);
        EXPECT_EQ(stored(), "0 0");
    });
}

// It waits for the head of its feed while its token is revoked, and must not get through afterwards.
TEST_F(attacked_writes, a_revocation_counts_that_comes_while_the_head_is_locked)
{
    with_store([&](store& s) -> awaitable<void> {
        auto first = one_file(workspace, token);
        EXPECT_TRUE((co_await s.stage.stage(std::move(first))).has_value());
        auto holder = co_await s.pool.begin();
        const statement lock{"lock_head", "SELECT FROM activity_heads FOR UPDATE"};
        const pq::parameters none;
        EXPECT_TRUE((co_await holder->execute(lock, none)).has_value());

        std::optional<error_code> outcome;
        const executor ex = co_await asio::this_coro::executor;
        const auto send = [&]() -> awaitable<void> {
            auto late = one_file(workspace, token, true);
            const auto done = co_await s.stage.stage(std::move(late));
            outcome = done ? error_code{} : done.error();
        };
        asio::co_spawn(ex, send(), [](std::exception_ptr) {});
        steady_timer tick(ex);
        for (int i = 0; i < 500 && !waits_for_lock(); ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        db.sql("UPDATE workspace_auth_tokens SET revoked_at = now()");
        EXPECT_TRUE((co_await holder->commit()).has_value());
        for (int i = 0; i < 500 && !outcome; ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(outcome, make_error_code(errc::invalid_token));
        EXPECT_EQ(stored(), "1 1");
    });
}

TEST_F(attacked_writes, one_locked_workspace_does_not_stop_the_others)
{
    crowd_a_locked_workspace([&](uuid to) { return one_file(to); });
}

// Such requests run alone, and each would wait for the lock on a connection of its own.
TEST_F(attacked_writes, nor_does_it_with_keys)
{
    crowd_a_locked_workspace([&](uuid to) {
        auto load = one_file(to);
        load.keys.push_back(request_key::of_client(to_string(make_uuid_v4()), sha256_of("x")));
        load.answer = std::make_shared<const std::string>("answer");
        return load;
    });
}

// A head that each look finds locked by a transaction that ends at once is that of a busy workspace.
TEST_F(attacked_writes, a_head_that_is_held_for_a_moment_is_not_a_locked_one)
{
    with_store([&](store& s) -> awaitable<void> {
        auto first = one_file(workspace);
        EXPECT_TRUE((co_await s.stage.stage(std::move(first))).has_value());
        auto holder = co_await s.pool.begin();
        const statement lock{"lock_head", "SELECT FROM activity_heads FOR UPDATE"};
        const pq::parameters none;
        EXPECT_TRUE((co_await holder->execute(lock, none)).has_value());
        std::optional<result<staged>> outcome;
        const executor ex = co_await asio::this_coro::executor;
        const auto send = [&]() -> awaitable<void> {
            auto load = one_file(workspace);
            outcome.emplace(co_await s.stage.stage(std::move(load)));
        };
        asio::co_spawn(ex, send(), [](std::exception_ptr) {});
        // The first look has come when nothing waits for the lock any more.
        steady_timer tick(ex);
        for (const bool wanted : {true, false})
            for (int i = 0; i < 1500 && waits_for_lock() != wanted; ++i) {
                tick.expires_after(2ms);
                co_await tick.async_wait(use_await);
            }
        EXPECT_TRUE((co_await holder->commit()).has_value());
        for (int i = 0; i < 500 && !outcome; ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_TRUE(outcome && outcome->has_value());
    });
}

// Each row takes half a second. A group of eight with one that cannot be stored takes four, and then each
// would be tried again: nobody is told after its time.
TEST_F(attacked_writes, a_retry_that_may_come_too_late_is_not_begun)
{
    db.sql(
        "CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END';"
        "CREATE TRIGGER slow BEFORE INSERT ON pending_uploads FOR EACH ROW EXECUTE FUNCTION take_time();"
        "UPDATE workspace_auth_tokens SET revoked_at = now()");
    with_store([&](store& s) -> awaitable<void> {
        int busy = 0, ended = 0;
        const auto began = steady::now();
        const auto send = [&](uuid to, std::optional<uuid> with) -> awaitable<void> {
            auto load = one_file(to, with);
            const auto done = co_await s.stage.stage(std::move(load));
            busy += !done && done.error() == errc::database_busy;
            ++ended;
        };
        const executor ex = co_await asio::this_coro::executor;
        for (int i = 0; i < 10; ++i) {
            const bool revoked = i == 5;
            const auto to = revoked ? workspace : make_uuid_v4();
            asio::co_spawn(ex, send(to, revoked ? std::optional(token) : std::nullopt),
                           [](std::exception_ptr) {});
        }
        steady_timer tick(ex);
        for (int i = 0; i < 1500 && ended < 10; ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(ended, 10);
        EXPECT_GE(busy, 1);
        EXPECT_LT(steady::now() - began, 10s);
    });
}

TEST_F(attacked_writes, a_message_id_is_stored_once)
{
    with_store([&](store& s) -> awaitable<void> {
        auto first = message("m-1", "first");
        EXPECT_FALSE((co_await s.stage.stage(std::move(first))).value().earlier_answer);
        auto again = message("m-1", "second");
        EXPECT_EQ((co_await s.stage.stage(std::move(again))).value().earlier_answer, "first");
        auto another = message("m-2", "third");
        EXPECT_FALSE((co_await s.stage.stage(std::move(another))).value().earlier_answer);
        EXPECT_EQ(stored(), "0 2");
        EXPECT_EQ(db.ask("SELECT request_body ->> 'answer' FROM activity_logs WHERE seq = 1"), "first");
    });
}

TEST_F(attacked_writes, a_key_whose_files_have_expired_is_not_answered_as_if_they_were_there)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto with_key = [&] {
            auto load = one_file(workspace);
            load.keys.push_back(request_key::of_client("k", sha256_of("x")));
            load.answer = std::make_shared<const std::string>("answer");
            return load;
        };
        auto first = with_key();
        EXPECT_TRUE((co_await s.stage.stage(std::move(first))).has_value());
        db.sql("UPDATE upload_requests SET files_expire_at = now()");
        auto again = with_key();
        EXPECT_EQ((co_await s.stage.stage(std::move(again))).error(), errc::idempotent_files_gone);
        EXPECT_EQ(stored(), "1 1");
    });
}

// Reading a fence or a key writes, so that a synchronous standby has what is reported.
TEST_F(attacked_writes, what_a_fence_and_a_key_report_is_itself_a_commit)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto fence = upload_requests::make_fence();
        auto tx = co_await s.pool.begin();
        s.requests.queue_fence(*tx, workspace, fence);
        EXPECT_TRUE((co_await tx->commit()).has_value());
        const auto version = [&] { return db.ask("SELECT xmin FROM upload_requests"); };
        const auto written = version();
        EXPECT_TRUE((co_await s.requests.settle(workspace, fence, 5s)).value().has_value());
        const auto settled = version();
        EXPECT_NE(settled, written);
        db.sql("UPDATE upload_requests SET response = 'x'");
        const auto before = version();
        EXPECT_TRUE((co_await s.requests.find(workspace, fence)).value().has_value());
        EXPECT_NE(version(), before);
    });
}

}  // namespace
}  // namespace restante
