#include "auth/authenticator.hpp"
#include "auth/token.hpp"
#include "storage/workspaces.hpp"
#include "test/support/database.hpp"
#include "test/support/fake_clock.hpp"
#include "test/support/pool.hpp"
#include "test/support/schema.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using kind = principal_kind;

const auto client = asio::ip::make_address("192.0.2.7");

bearer bearer_of(const std::string& secret)
{
    return {bearer_kind::token, secret};
}

// A database with the schema, the stores on it, and one shard's authenticator with a stopped clock.
class identity : public ::testing::Test {
protected:
    identity() { test::apply_schema(db); }

    struct stores {
        stores(executor ex, pq::connection_pool& pool, const fake_clock& time, const std::string& admin_token)
            : known(pool), tokens(pool), auth(ex, tokens, known, board, admin_token, time)
        {
            board.subscribe(ex, auth);
        }
        workspace_store known;
        token_store tokens;
        identity_notices board;
        authenticator auth;
    };

    template <class Body>
    void with_stores(Body body, const std::string& admin_token = {})
    {
        test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
            stores all(co_await asio::this_coro::executor, pool, time, admin_token);
            co_await body(all);
        });
    }

    static registration poll_workspace(const uuid& id)
    {
        return {
            .id = id, .mode = delivery_mode::poll, .url = {}, .name = "laptop", .agent_card = R"({"v":1})"};
    }

    // Registers for the first time and returns the token.
    static awaitable<std::string> first_token_of(stores& all, uuid id)
    {
        const auto made = make_token();
        const auto what = poll_workspace(id);
        const auto done = co_await all.known.register_workspace(what, made.kept, caller::unproven);
        EXPECT_EQ(done.value().token, first_token::stored);
        co_return made.secret;
    }

    static awaitable<errc> identified_as(stores& all, std::string secret)
    {
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        co_return who ? errc{} : static_cast<errc>(who.error().value());
    }

    test::scratch_database db;
    fake_clock time;
    const uuid a = make_uuid_v4();
    const uuid b = make_uuid_v4();
};

TEST_F(identity, the_first_registration_mints_a_token_and_only_its_hash_is_stored)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        EXPECT_EQ(who.value().kind, kind::workspace);
        EXPECT_EQ(who->workspace.id, a);
        EXPECT_EQ(who->workspace.mode, delivery_mode::poll);
        EXPECT_TRUE(who->workspace.can_stage);
        EXPECT_EQ(db.ask("SELECT id FROM workspace_auth_tokens"), to_string(who->token));
        EXPECT_EQ(db.ask("SELECT prefix FROM workspace_auth_tokens"), secret.substr(0, 8));
        EXPECT_EQ(db.ask("SELECT token_hash = sha256('" + secret + "') FROM workspace_auth_tokens"), "t");
        EXPECT_EQ(db.ask("SELECT (t::text LIKE '%" + secret + "%') FROM workspace_auth_tokens t"), "f");
    });
}

TEST_F(identity, the_second_registration_needs_proof_and_mints_nothing)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await first_token_of(all, a);
        const auto made = make_token();
        auto changed = poll_workspace(a);
        changed.mode = delivery_mode::push;
        changed.url = "https://example.org/a";
        const auto refused = co_await all.known.register_workspace(changed, made.kept, caller::unproven);
        EXPECT_EQ(refused.error(), errc::missing_token);
        EXPECT_EQ(db.ask("SELECT delivery_mode FROM workspaces"), "poll") << "a refusal changes nothing";

        changed.name.reset();
        changed.agent_card = R"({"v":2})";
        const auto done = co_await all.known.register_workspace(changed, made.kept, caller::proven);
        EXPECT_EQ(done.value().token, first_token::not_needed);
        EXPECT_EQ(db.ask("SELECT delivery_mode || url || name || (agent_card->>'v') FROM workspaces"),
                  "pushhttps://example.org/alaptop2");
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens"), "1");
        EXPECT_EQ((co_await identified_as(all, made.secret)), errc::invalid_token);
    });
}

TEST_F(identity, a_workspace_whose_last_token_was_revoked_is_not_for_whoever_comes_next)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        (co_await all.tokens.revoke(a, who.value().token)).value();
        const auto made = make_token();
        const auto what = poll_workspace(a);
        const auto refused = co_await all.known.register_workspace(what, made.kept, caller::unproven);
        EXPECT_EQ(refused.error(), errc::missing_token);
        const auto holder = co_await all.known.register_workspace(what, made.kept, caller::with_token);
        EXPECT_EQ(holder.error(), errc::invalid_token) << "nor for whoever held that token a moment ago";
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NULL"), "0");

        const auto done = co_await all.known.register_workspace(what, made.kept, caller::proven);
        EXPECT_EQ(done.value().token, first_token::stored);
        EXPECT_EQ((co_await identified_as(all, made.secret)), errc{});
    });
}

TEST_F(identity, a_workspace_that_is_there_and_never_had_a_token_gets_its_first)
{
    db.ask("INSERT INTO workspaces (id) VALUES ('" + to_string(a) + "') RETURNING 1");
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        EXPECT_EQ((co_await identified_as(all, secret)), errc{});
    });
}

TEST_F(identity, two_first_registrations_at_once_mint_one_token)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        const auto what = poll_workspace(a);
        int stored = 0, refused = 0;
        wakeup done(ex);
        const auto attempt = [&]() -> awaitable<void> {
            const auto made = make_token();
            const auto got = co_await all.known.register_workspace(what, made.kept, caller::unproven);
            if (got)
                ++stored;
            else if (got.error() == errc::missing_token)
                ++refused;
            done.notify_all();
        };
        for (int i = 0; i < 4; ++i)
            asio::co_spawn(ex, attempt(), [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        const auto limit = std::chrono::steady_clock::now() + 5s;
        while (stored + refused < 4 && co_await done.wait_until(limit)) {
        }
        EXPECT_EQ(stored, 1);
        EXPECT_EQ(refused, 3);
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens"), "1");
    });
}

TEST_F(identity, rotation_has_two_live_tokens_and_no_gap)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto old_secret = co_await first_token_of(all, a);
        const auto fresh = make_token();
        const auto minted = co_await all.tokens.mint(a, fresh.kept);
        EXPECT_EQ(minted.value().prefix, fresh.secret.substr(0, 8));
        EXPECT_EQ((co_await identified_as(all, old_secret)), errc{});
        EXPECT_EQ((co_await identified_as(all, fresh.secret)), errc{});

        const auto listed = co_await all.tokens.list(a);
        EXPECT_EQ(listed.value().size(), 2u);
        EXPECT_EQ(listed->front().id, fresh.kept.id) << "newest first";
        const auto old_id = listed->back().id;
        EXPECT_TRUE((co_await all.tokens.revoke(a, old_id)).has_value());
        all.auth.on_token_revoked(old_id);
        EXPECT_EQ((co_await identified_as(all, old_secret)), errc::invalid_token);
        EXPECT_EQ((co_await identified_as(all, fresh.secret)), errc{});

        const auto revoked_at =
            db.ask("SELECT revoked_at FROM workspace_auth_tokens WHERE revoked_at IS NOT NULL");
        EXPECT_TRUE((co_await all.tokens.revoke(a, old_id)).has_value()) << "again is as good as once";
        EXPECT_EQ(db.ask("SELECT revoked_at FROM workspace_auth_tokens WHERE revoked_at IS NOT NULL"),
                  revoked_at);
    });
}

TEST_F(identity, another_workspaces_token_can_be_neither_revoked_nor_listed)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        co_await first_token_of(all, b);
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        const auto revoked = co_await all.tokens.revoke(b, who.value().token);
        EXPECT_EQ(revoked.error(), errc::not_found);
        EXPECT_EQ((co_await all.tokens.list(b)).value().size(), 1u);
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NOT NULL"), "0");
        const auto stray = make_token();
        EXPECT_EQ((co_await all.tokens.mint(make_uuid_v4(), stray.kept)).error(), errc::workspace_not_found);
    });
}

TEST_F(identity, a_removed_workspace_is_shut_and_cannot_come_back)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        EXPECT_TRUE((co_await all.known.remove(a)).has_value());
        EXPECT_EQ((co_await all.known.remove(a)).error(), errc::workspace_not_found);
        EXPECT_EQ((co_await all.known.find(a)).error(), errc::workspace_not_found);
        EXPECT_EQ((co_await identified_as(all, secret)), errc::invalid_token);

        const auto fresh = make_token();
        const auto what = poll_workspace(a);
        for (const auto who : {caller::unproven, caller::proven}) {
            const auto back = co_await all.known.register_workspace(what, fresh.kept, who);
            EXPECT_EQ(back.error(), errc::workspace_removed);
        }
        EXPECT_EQ((co_await all.tokens.mint(a, fresh.kept)).error(), errc::workspace_not_found);
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NULL"), "0");
        EXPECT_EQ(db.ask("SELECT status FROM workspaces"), "removed");
    });
}

TEST_F(identity, only_registration_hears_that_a_token_belonged_to_a_removed_workspace)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        co_await all.known.remove(a);
        const auto who =
            co_await all.auth.identify(bearer_of(secret), client, authenticator::removed_workspaces::tell);
        EXPECT_TRUE(who.value().workspace.removed);
        EXPECT_EQ((co_await identified_as(all, secret)), errc::invalid_token);
    });
}

TEST_F(identity, a_cached_token_works_until_it_is_announced_or_five_seconds_old)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        db.sql("UPDATE workspace_auth_tokens SET revoked_at = now()");
        time.advance(4999ms);
        EXPECT_EQ((co_await identified_as(all, secret)), errc{}) << "no query while the cache is warm";
        EXPECT_TRUE((co_await all.auth.still_valid(*who)).has_value());
        time.advance(1ms);
        EXPECT_EQ((co_await identified_as(all, secret)), errc::invalid_token);
        EXPECT_EQ((co_await all.auth.still_valid(*who)).error(), errc::invalid_token);
    });
}

TEST_F(identity, an_announced_revocation_holds_at_once)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        const auto who = co_await all.auth.identify(bearer_of(secret), client);
        co_await all.tokens.revoke(a, who.value().token);
        all.board.token_revoked(who->token);
        // The notice is in the shard's queue, so anything posted now runs after it.
        co_await asio::post(co_await asio::this_coro::executor, use_await);
        EXPECT_EQ((co_await identified_as(all, secret)), errc::invalid_token);
    });
}

TEST_F(identity, malformed_tokens_and_the_admin_token_never_reach_the_database)
{
    const auto admin = std::string("correct horse battery staple");
    with_stores(
        [&](stores& all) -> awaitable<void> {
            db.sql("ALTER TABLE workspace_auth_tokens RENAME TO hidden");
            EXPECT_EQ((co_await all.auth.identify(bearer_of(admin), client)).value().kind, kind::admin);
            for (const auto& wrong :
                 {admin + "x", std::string(42, 'A'), std::string(44, 'A'), std::string("x")})
                EXPECT_EQ((co_await identified_as(all, wrong)), errc::invalid_token) << wrong;
            const bearer malformed{bearer_kind::malformed, {}};
            EXPECT_EQ((co_await all.auth.identify(malformed, client)).error(), errc::invalid_token);
            EXPECT_EQ((co_await identified_as(all, std::string(43, 'A'))), errc::schema_missing)
                << "this one does";
        },
        admin);
}

TEST_F(identity, without_an_admin_token_nobody_is_admin)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const bearer none;
        EXPECT_EQ((co_await all.auth.identify(none, client)).error(), errc::missing_token);
        const std::string empty;
        EXPECT_EQ((co_await all.auth.identify(bearer_of(empty), client)).error(), errc::invalid_token);
    });
}

TEST_F(identity, too_many_wrong_tokens_are_told_so_and_right_ones_are_not_touched)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ((co_await identified_as(all, make_token().secret)), errc::invalid_token);
        EXPECT_EQ((co_await identified_as(all, make_token().secret)), errc::too_many_failed_logins);
        EXPECT_EQ((co_await identified_as(all, secret)), errc{});
        const auto other = asio::ip::make_address("192.0.2.8");
        const std::string wrong(43, 'B');
        EXPECT_EQ((co_await all.auth.identify(bearer_of(wrong), other)).error(), errc::invalid_token);
    });
}

TEST_F(identity, shards_count_wrong_tokens_together)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        authenticator neighbour(ex, all.tokens, all.known, all.board, {}, time);
        all.board.subscribe(ex, neighbour);
        for (int i = 0; i < 20; ++i)
            neighbour.refuse(client);
        co_await asio::post(ex, use_await);
        EXPECT_EQ(all.auth.refuse(client), errc::too_many_failed_logins);
        co_await asio::post(ex, use_await);  // the neighbour must live until it has received this one too
    });
}

TEST_F(identity, a_database_that_is_away_is_no_wrong_token)
{
    const pq::connect_options nowhere{.conninfo = "host=/nonexistent dbname=restante"};
    test::with_pool(nowhere, 2, [&](pq::connection_pool& pool) -> awaitable<void> {
        stores all(co_await asio::this_coro::executor, pool, time, {});
        EXPECT_EQ((co_await identified_as(all, make_token().secret)), errc::database_unavailable);
        const principal admin{.kind = kind::admin};
        EXPECT_EQ((co_await all.auth.workspace_for(admin, a)).error(), errc::database_unavailable);
        for (int i = 0; i < 30; ++i)
            EXPECT_EQ((co_await identified_as(all, make_token().secret)), errc::database_unavailable)
                << "what could not be asked about is not counted either";
    });
}

TEST_F(identity, an_admin_learns_the_mode_with_one_query_in_five_seconds)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await first_token_of(all, a);
        const principal admin{.kind = kind::admin};
        EXPECT_EQ((co_await all.auth.workspace_for(admin, a)).value().mode, delivery_mode::poll);
        db.sql("UPDATE workspaces SET delivery_mode = NULL, url = 'http://example.org'");
        EXPECT_EQ((co_await all.auth.workspace_for(admin, a)).value().mode, delivery_mode::poll);
        all.auth.on_workspace_changed(a);
        const auto facts = co_await all.auth.workspace_for(admin, a);
        EXPECT_EQ(facts.value().mode, delivery_mode::none);
        EXPECT_TRUE(facts->has_url);
        EXPECT_EQ((co_await all.auth.workspace_for(admin, b)).error(), errc::workspace_not_found);
    });
}

TEST_F(identity, staging_starts_by_itself_once_its_table_is_there)
{
    db.sql("ALTER TABLE pending_uploads RENAME TO not_yet");
    with_stores([&](stores& all) -> awaitable<void> {
        const auto secret = co_await first_token_of(all, a);
        EXPECT_FALSE((co_await all.auth.identify(bearer_of(secret), client)).value().workspace.can_stage);
        db.sql("ALTER TABLE not_yet RENAME TO pending_uploads");
        time.advance(5s);
        EXPECT_TRUE((co_await all.auth.identify(bearer_of(secret), client)).value().workspace.can_stage);
    });
}

TEST_F(identity, texts_that_postgresql_cannot_hold_are_refused)
{
    with_stores([&](stores& all) -> awaitable<void> {
        auto what = poll_workspace(a);
        what.agent_card = R"({"text":"\u0000"})";
        const auto made = make_token();
        const auto done = co_await all.known.register_workspace(what, made.kept, caller::unproven);
        EXPECT_EQ(done.error(), errc::check_violation);
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspaces"), "0");
    });
}

TEST_F(identity, last_used_is_written_in_the_background_and_once_a_minute)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        const auto secret = co_await first_token_of(all, a);
        co_await identified_as(all, secret);
        EXPECT_EQ(db.ask("SELECT last_used_at IS NULL FROM workspace_auth_tokens"), "t")
            << "not in a request's way";

        task_group tasks(ex);
        tasks.spawn("last_used", run_last_used_writer(all.auth.notes(), all.tokens, tasks));
        EXPECT_TRUE(co_await tasks.shutdown(5s)) << "drained at shutdown";
        const auto stamped = db.ask("SELECT last_used_at FROM workspace_auth_tokens");
        EXPECT_NE(stamped, "");

        const auto token = (co_await all.tokens.list(a)).value().front().id;
        const std::vector<uuid> again{token};
        EXPECT_TRUE((co_await all.tokens.stamp_last_used(again)).has_value());
        EXPECT_EQ(db.ask("SELECT last_used_at FROM workspace_auth_tokens"), stamped)
            << "another shard, same minute";
        db.sql("UPDATE workspace_auth_tokens SET last_used_at = now() - interval '61 seconds'");
        EXPECT_TRUE((co_await all.tokens.stamp_last_used(again)).has_value());
        EXPECT_EQ(db.ask("SELECT last_used_at > now() - interval '30 seconds' FROM workspace_auth_tokens"),
                  "t");
    });
}

TEST_F(identity, workspaces_are_listed_with_their_live_tokens)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await first_token_of(all, a);
        co_await first_token_of(all, b);
        co_await all.known.remove(b);
        const auto listed = co_await all.known.list();
        EXPECT_EQ(listed.value().size(), 2u);
        EXPECT_EQ(listed->front().id, a);
        EXPECT_EQ(listed->front().live_tokens, 1);
        EXPECT_EQ(listed->back().live_tokens, 0);
        EXPECT_TRUE(listed->back().removed_at.has_value());
    });
}

}  // namespace
}  // namespace restante
