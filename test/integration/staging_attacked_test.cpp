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
        const auto waiting = [&] { return db.ask("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0"; };
        for (int i = 0; i < 500 && !waiting(); ++i) {
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

// 40 requests to a locked workspace and 40 to others, at once: the others are stored, the locked ones
// refused.
TEST_F(attacked_writes, one_locked_workspace_does_not_stop_the_others)
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
            auto load = one_file(to);
            const auto done = co_await s.stage.stage(std::move(load));
            refused += !done && done.error() == errc::database_busy;
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
        EXPECT_TRUE((co_await s.requests.settle(workspace, fence)).value().has_value());
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
