// Restricted tokens and upload grants in PostgreSQL: who finds them, how they end, and that a grant is
// counted exactly, whatever goes wrong around it.
#include "auth/authenticator.hpp"
#include "auth/token.hpp"
#include "storage/staging.hpp"
#include "storage/tokens.hpp"
#include "test/support/database.hpp"
#include "test/support/fake_clock.hpp"
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

const auto client = asio::ip::make_address("192.0.2.7");

class grants : public ::testing::Test {
protected:
    grants()
    {
        test::apply_schema(db);
        db.sql("INSERT INTO workspaces (id, delivery_mode) VALUES ('" + to_string(workspace) + "', 'poll')");
    }

    // The write side of a shard, and its tokens.
    struct store : test::upload_store {
        store(executor ex, const test::scratch_database& db, const clock& time)
            : upload_store(ex, db, 8), tokens(pool), known(pool), auth(ex, tokens, known, board, "", time)
        {
        }
        token_store tokens;
        workspace_store known;
        identity_notices board;
        authenticator auth;
    };

    template <class Body>
    void with_store(Body body)
    {
        test::run([&]() -> awaitable<void> {
            store s(co_await asio::this_coro::executor, db, time);
            const auto work = [&] { return body(s); };
            co_await test::with_running(s.pool, work);
        });
    }

    static made_token token_of(token_scope scope, std::optional<std::chrono::seconds> lifetime = {})
    {
        auto made = make_token();
        made.kept.scope = scope;
        made.kept.lifetime = lifetime;
        return made;
    }

    awaitable<made_token> mint_grant(store& s, grant_amounts limit, std::chrono::seconds lifetime = 1h) const
    {
        auto made = token_of(token_scope::grant, lifetime);
        const new_grant grant{.terms = {.limit = limit, .used = {}, .types = {}}};
        EXPECT_TRUE((co_await s.tokens.mint_grant(workspace, made.kept, grant)).has_value());
        co_return made;
    }

    awaitable<errc> identified_as(store& s, const std::string& secret)
    {
        const auto who = co_await s.auth.identify({bearer_kind::token, secret}, client);
        co_return who ? errc{} : static_cast<errc>(who.error().value());
    }

    upload with_grant(const uuid& grant, std::vector<new_file> files) const
    {
        for (auto& file : files)
            file.staged_by = grant;
        auto load = test::make_upload(workspace, std::move(files));
        load.token = used_token(grant, true, true);
        return load;
    }
    upload with_grant(const uuid& grant, std::string text, bool on_disk = false) const
    {
        std::vector<new_file> files;
        files.push_back(make_file("a.txt", std::move(text), on_disk));
        return with_grant(grant, std::move(files));
    }

    std::string used(const uuid& grant) const
    {
        return db.ask(
            "SELECT used_requests || ' ' || used_files || ' ' || used_bytes FROM workspace_auth_tokens "
            "WHERE id = '" +
            to_string(grant) + "'");
    }
    std::string stored_with(const uuid& grant) const
    {
        return db.ask(
            "SELECT count(DISTINCT left(original_name, 8)) || ' ' || count(*) || ' ' || "
            "coalesce(sum(size_bytes), 0) FROM pending_uploads WHERE staged_by = '" +
            to_string(grant) + "'");
    }

    test::scratch_database db;
    fake_clock time;
    const uuid workspace = make_uuid_v4();
};

// The statement of servers of the version before, which know no scopes.
std::string found_by_older_servers(const std::string& secret)
{
    return "SELECT count(*) FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id "
           "WHERE t.token_hash = ANY (ARRAY[sha256('" +
           secret + "')]) AND (t.revoked_at IS NULL OR w.removed_at IS NOT NULL)";
}

TEST_F(grants, older_servers_do_not_find_what_they_would_take_for_a_full_token)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto full = token_of(token_scope::full);
        EXPECT_TRUE((co_await s.tokens.mint(workspace, full.kept)).has_value());
        EXPECT_EQ(db.ask(found_by_older_servers(full.secret)), "1");
        for (const auto& made :
             {token_of(token_scope::upload), token_of(token_scope::read), token_of(token_scope::full, 1h)}) {
            EXPECT_TRUE((co_await s.tokens.mint(workspace, made.kept)).has_value());
            EXPECT_EQ(db.ask(found_by_older_servers(made.secret)), "0") << to_string(made.kept.scope);
            const auto who = co_await s.auth.identify({bearer_kind::token, made.secret}, client);
            EXPECT_EQ(who.value().scope, made.kept.scope);
            EXPECT_EQ(who->token, made.kept.id);
            EXPECT_EQ(who->ends, made.kept.lifetime.has_value());
        }
        const auto grant = co_await mint_grant(s, {1, 1, 100});
        EXPECT_EQ(db.ask(found_by_older_servers(grant.secret)), "0");
        const auto who = co_await s.auth.identify({bearer_kind::token, grant.secret}, client);
        EXPECT_EQ(who.value().grant->left(), (grant_amounts{1, 1, 100}));
    });
}

TEST_F(grants, older_servers_can_revoke_them)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto made = token_of(token_scope::upload);
        co_await s.tokens.mint(workspace, made.kept);
        db.sql("UPDATE workspace_auth_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = '" +
               to_string(made.kept.id) + "' AND workspace_id = '" + to_string(workspace) + "'");
        EXPECT_EQ((co_await identified_as(s, made.secret)), errc::invalid_token);
    });
}

TEST_F(grants, a_token_ends_by_the_databases_clock_in_the_cache_too)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto made = token_of(token_scope::read, 3600s);
        co_await s.tokens.mint(workspace, made.kept);
        const auto of_it = " WHERE id = '" + to_string(made.kept.id) + "'";
        db.sql("UPDATE workspace_auth_tokens SET expires_at = now() + interval '2 seconds'" + of_it);
        EXPECT_EQ((co_await identified_as(s, made.secret)), errc{});
        db.sql("UPDATE workspace_auth_tokens SET expires_at = now()" + of_it);
        time.advance(1s);
        EXPECT_EQ((co_await identified_as(s, made.secret)), errc{}) << "cached";
        time.advance(1s);
        EXPECT_EQ((co_await identified_as(s, made.secret)), errc::invalid_token) << "before the cache's 5 s";
    });
}

TEST_F(grants, a_token_that_has_ended_mints_nothing)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto maker = token_of(token_scope::full);
        co_await s.tokens.mint(workspace, maker.kept);
        const auto mint_both = [&](bool allowed) -> awaitable<void> {
            auto token = token_of(token_scope::full);
            token.kept.minted_with = maker.kept.id;
            const auto minted = co_await s.tokens.mint(workspace, token.kept);
            EXPECT_EQ(minted.has_value(), allowed);
            EXPECT_TRUE(allowed || minted.error() == errc::invalid_token);
            auto grant = token_of(token_scope::grant, 1h);
            grant.kept.minted_with = maker.kept.id;
            const new_grant terms{.terms = {.limit = {1, 1, 1}, .used = {}, .types = {}}};
            const auto granted = co_await s.tokens.mint_grant(workspace, grant.kept, terms);
            EXPECT_EQ(granted.has_value(), allowed);
            EXPECT_TRUE(allowed || granted.error() == errc::invalid_token);
            EXPECT_TRUE(!allowed || granted->created_by == maker.kept.prefix);
        };
        co_await mint_both(true);
        const auto of_it = " WHERE id = '" + to_string(maker.kept.id) + "'";
        db.sql("UPDATE workspace_auth_tokens SET expires_at = now()" + of_it);
        co_await mint_both(false);
        db.sql("UPDATE workspace_auth_tokens SET expires_at = NULL, revoked_at = now()" + of_it);
        co_await mint_both(false);
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens"), "3");
    });
}

TEST_F(grants, what_has_ended_meanwhile_stores_nothing)
{
    with_store([&](store& s) -> awaitable<void> {
        for (const bool large : {false, true}) {
            const auto token = token_of(token_scope::upload, 1h);
            co_await s.tokens.mint(workspace, token.kept);
            const auto grant = co_await mint_grant(s, {5, 5, 1000});
            db.sql("UPDATE workspace_auth_tokens SET expires_at = now()");
            auto by_token = with_grant(token.kept.id, "text", large);
            by_token.token = used_token(token.kept.id, true, false);
            EXPECT_EQ((co_await s.stage.stage(std::move(by_token))).error(), errc::invalid_token);
            auto by_grant = with_grant(grant.kept.id, "text", large);
            EXPECT_EQ((co_await s.stage.stage(std::move(by_grant))).error(), errc::invalid_token);
            EXPECT_EQ(used(grant.kept.id), "0 0 0");
        }
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads"), "0");
        EXPECT_EQ(db.ask("SELECT count(*) FROM activity_logs"), "0");
    });
}

TEST_F(grants, each_limit_holds_and_a_refusal_uses_nothing)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto grant = co_await mint_grant(s, {3, 3, 10});
        auto fits = with_grant(grant.kept.id, "12345");
        EXPECT_TRUE((co_await s.stage.stage(std::move(fits))).has_value());
        EXPECT_EQ(used(grant.kept.id), "1 1 5");
        auto bytes = with_grant(grant.kept.id, "123456");
        EXPECT_EQ((co_await s.stage.stage(std::move(bytes))).error(), errc::grant_exhausted);
        std::vector<new_file> three;
        for (const auto* name : {"a", "b", "c"})
            three.push_back(make_file(name, "1"));
        auto files = with_grant(grant.kept.id, std::move(three));
        EXPECT_EQ((co_await s.stage.stage(std::move(files))).error(), errc::grant_exhausted);
        EXPECT_EQ(used(grant.kept.id), "1 1 5");
        for (int i = 0; i < 2; ++i) {
            auto more = with_grant(grant.kept.id, "1");
            EXPECT_TRUE((co_await s.stage.stage(std::move(more))).has_value());
        }
        auto requests = with_grant(grant.kept.id, "1");
        EXPECT_EQ((co_await s.stage.stage(std::move(requests))).error(), errc::grant_exhausted);
        EXPECT_EQ(used(grant.kept.id), "3 3 7");
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads"), "3");
    });
}

TEST_F(grants, a_failed_upload_and_a_repeated_one_use_nothing)
{
    db.sql("ALTER TABLE pending_uploads ADD CHECK (filename <> 'bad')");
    with_store([&](store& s) -> awaitable<void> {
        const auto grant = co_await mint_grant(s, {1, 5, 1000});
        std::vector<new_file> bad;
        bad.push_back(make_file("bad", "x"));
        auto failing = with_grant(grant.kept.id, std::move(bad));
        EXPECT_EQ((co_await s.stage.stage(std::move(failing))).error(), errc::could_not_stage);
        EXPECT_EQ(used(grant.kept.id), "0 0 0");

        const auto keyed = [&] {
            auto load = with_grant(grant.kept.id, "text");
            load.answer = std::make_shared<const std::string>("{}");
            load.keys.push_back(request_key::of_client("key", sha256_of("text")));
            return load;
        };
        auto first = keyed();
        EXPECT_TRUE((co_await s.stage.stage(std::move(first))).has_value());
        auto again = keyed();
        const auto repeated = co_await s.stage.stage(std::move(again));
        EXPECT_TRUE(repeated.value().earlier_answer.has_value()) << "although nothing is left";
        EXPECT_EQ(used(grant.kept.id), "1 1 4");
    });
}

TEST_F(grants, an_exhausted_grant_disturbs_no_upload_beside_it)
{
    with_store([&](store& s) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        const auto grant = co_await mint_grant(s, {1, 1, 100});
        int stored = 0, exhausted = 0, ended = 0;
        const auto send = [&](bool granted) -> awaitable<void> {
            auto load = with_grant(grant.kept.id, "text");
            if (!granted)
                load.token.reset();
            const auto done = co_await s.stage.stage(std::move(load));
            stored += done.has_value();
            exhausted += !done && done.error() == errc::grant_exhausted;
            ++ended;
        };
        for (int i = 0; i < 60; ++i)
            asio::co_spawn(ex, send(i % 2 == 0), [](std::exception_ptr) {});
        steady_timer tick(ex);
        for (int i = 0; i < 2000 && ended < 60; ++i) {
            tick.expires_after(5ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(stored, 31);
        EXPECT_EQ(exhausted, 29);
    });
}

// Rows are refused, sessions are killed (some of them during COMMIT), and the writers go on until the grant
// is used up or time is over. What it says it was used for is what is there.
TEST_F(grants, thirty_two_writers_and_failures_leave_an_exact_count)
{
    db.sql("ALTER TABLE pending_uploads ADD CHECK (filename <> 'bad')");
    // A pause inside COMMIT, so that sessions die there too.
    db.sql(
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.002); RETURN NULL; "
        "END $$; CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON activity_logs DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION linger()");
    with_store([&](store& s) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        const auto grant = co_await mint_grant(s, {100, 1'000'000, 1'000'000'000});
        const auto give_up = std::chrono::steady_clock::now() + 60s;
        int confirmed = 0, unknown = 0, refused = 0, lost = 0, number = 0, writing = 32;
        bool exhausted = false;

        const auto write = [&](int who) -> awaitable<void> {
            for (int i = 0; !exhausted && std::chrono::steady_clock::now() < give_up; ++i) {
                char name[16];
                std::snprintf(name, sizeof name, "%08d", number++);
                std::vector<new_file> files;
                files.push_back(make_file("good", std::string(static_cast<std::size_t>(100 * who + 1), 'x')));
                files.push_back(make_file((who + i) % 5 == 0 ? "bad" : "fine", "y", (who + i) % 7 == 0));
                for (auto& file : files)
                    file.original_name = name;
                auto load = with_grant(grant.kept.id, std::move(files));
                const auto done = co_await s.stage.stage(std::move(load));
                confirmed += done.has_value();
                unknown += !done && done.error() == errc::commit_outcome_unknown;
                refused += !done && done.error() == errc::could_not_stage;
                lost += !done && done.error() == errc::database_unavailable;
                exhausted |= !done && done.error() == errc::grant_exhausted;
            }
            --writing;
        };
        for (int i = 0; i < 32; ++i)
            asio::co_spawn(ex, write(i), [](std::exception_ptr) {});
        const auto options = db.options();
        auto killer = co_await pq::connection::open(options);
        static const statement kill{
            "kill_one",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"};
        steady_timer tick(ex);
        while (writing > 0) {
            tick.expires_after(50ms);
            co_await tick.async_wait(use_await);
            if (killer && !exhausted)
                co_await (*killer)->execute(kill);
        }
        EXPECT_TRUE(exhausted) << "or it ran out of time";
        EXPECT_GT(refused, 0);
        EXPECT_GT(lost, 0) << "no session was killed in time";
        EXPECT_EQ(used(grant.kept.id), stored_with(grant.kept.id)) << "requests, files, bytes";
        const int stored = std::stoi(used(grant.kept.id));
        EXPECT_LE(confirmed, stored);
        EXPECT_LE(stored, confirmed + unknown);
        EXPECT_EQ(stored, 100);
    });
}

TEST_F(grants, live_ones_are_bounded_and_ended_ones_forgotten)
{
    const auto fill = [&](const std::string& scope, int count, const std::string& ends) {
        const std::string limits = scope == "grant" ? "1, 1, 1" : "NULL, NULL, NULL";
        db.sql(
            "INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix, scope, expires_at, "
            "max_requests, max_files, max_bytes) SELECT '" +
            to_string(workspace) + "', sha256(gen_random_uuid()::text::bytea), '12345678', '" + scope +
            "', " + ends + ", " + limits + " FROM generate_series(1, " + std::to_string(count) + ")");
    };
    const auto count = [&](const std::string& which) {
        return db.ask("SELECT count(*) FROM workspace_auth_tokens WHERE " + which);
    };
    with_store([&](store& s) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        fill("grant", 700, "now() - interval '1 minute'");
        co_await mint_grant(s, {1, 1, 1});
        EXPECT_EQ(count("scope = 'grant'"), "501") << "those that ended first are forgotten";
        fill("grant", token_store::max_live - 2, "now() + interval '1 hour'");

        // They all have counted before the first has inserted, unless they wait for each other.
        db.sql(
            "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; "
            "END $$; CREATE TRIGGER linger BEFORE INSERT ON workspace_auth_tokens FOR EACH ROW EXECUTE FUNCTION "
            "linger()");
        int minted = 0, refused = 0, ended = 0;
        const auto mint = [&]() -> awaitable<void> {
            const auto made = token_of(token_scope::grant, 1h);
            const new_grant grant{.terms = {.limit = {1, 1, 1}, .used = {}, .types = {}}};
            const auto done = co_await s.tokens.mint_grant(workspace, made.kept, grant);
            minted += done.has_value();
            refused += !done && done.error() == errc::too_many_tokens;
            ++ended;
        };
        for (int i = 0; i < 8; ++i)
            asio::co_spawn(ex, mint(), [](std::exception_ptr) {});
        steady_timer tick(ex);
        for (int i = 0; i < 2000 && ended < 8; ++i) {
            tick.expires_after(5ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(minted, 1) << "of eight at once, for the one place that was left";
        EXPECT_EQ(refused, 7);
        db.sql("DROP TRIGGER linger ON workspace_auth_tokens");

        fill("upload", 600, "now() - interval '1 minute'");
        fill("upload", 600, "now() - interval '2 days'");
        const auto token = token_of(token_scope::upload);
        EXPECT_TRUE((co_await s.tokens.mint(workspace, token.kept)).has_value())
            << "grants do not crowd them out";
        EXPECT_EQ(count("scope = 'upload' AND expires_at > now() - interval '1 day'"), "600")
            << "a request that came with it may still be on its way";
        EXPECT_EQ(count("scope = 'upload' AND expires_at < now() - interval '1 day'"), "500");
    });
}

TEST_F(grants, a_list_holds_every_live_one_however_many_ended_later)
{
    const auto fill = [&](const std::string& columns, const std::string& values, int count) {
        db.sql(
            "INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix, created_at, revoked_at, " +
            columns + ") SELECT '" + to_string(workspace) +
            "', sha256(gen_random_uuid()::text::bytea), '12345678', " + values + " FROM generate_series(1, " +
            std::to_string(count) + ")");
    };
    with_store([&](store& s) -> awaitable<void> {
        const std::string limits = "'grant', now() + interval '1 hour', 1, 1, 1";
        const std::string columns = "scope, expires_at, max_requests, max_files, max_bytes";
        for (const auto& [more, values] : {std::pair<std::string, std::string>{"scope", "'full'"},
                                           std::pair<std::string, std::string>{columns, limits}}) {
            fill(more, "now() - interval '1 hour', NULL, " + values, token_store::max_live);
            fill(more, "now(), now(), " + values, 600);
        }
        const auto tokens = co_await s.tokens.list(workspace);
        const auto links = co_await s.tokens.list_grants(workspace);
        EXPECT_EQ(tokens.value().size(), 1500u);
        EXPECT_EQ(links.value().size(), 1500u);
        for (std::size_t i = 0; i < 1500; ++i) {
            EXPECT_EQ(tokens->at(i).revoked_at.has_value(), i >= 1000) << i;
            EXPECT_EQ(links->at(i).token.revoked_at.has_value(), i >= 1000) << i;
        }
    });
}

TEST_F(grants, a_workspace_whose_only_full_token_is_gone_gets_a_new_one)
{
    with_store([&](store& s) -> awaitable<void> {
        const auto made = token_of(token_scope::upload);
        co_await s.tokens.mint(workspace, made.kept);
        const registration what{.id = workspace, .mode = delivery_mode::poll};
        const auto fresh = make_token();
        const auto refused = co_await s.known.register_workspace(what, fresh.kept, caller::unproven);
        EXPECT_EQ(refused.error(), errc::missing_token) << "it has had a token";
        const auto done = co_await s.known.register_workspace(what, fresh.kept, caller::proven);
        EXPECT_EQ(done.value().token, first_token::stored);
    });
}

}  // namespace
}  // namespace restante
