// What is stored of workspaces besides who may use them: the secret that proves us to them, their names and
// modes, and the list that others see.
#include "storage/workspaces.hpp"

#include "auth/token.hpp"
#include "storage/pq/transaction.hpp"
#include "storage/workspace_directory.hpp"
#include "test/support/database.hpp"
#include "test/support/pool.hpp"
#include "test/support/schema.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <set>

namespace restante {
namespace {

class workspaces_in_database : public ::testing::Test {
protected:
    workspaces_in_database() { test::apply_schema(db); }

    struct stores {
        explicit stores(pq::connection_pool& pool) : known(pool), directory(pool), tokens(pool) {}
        workspace_store known;
        workspace_directory directory;
        token_store tokens;
    };

    template <class Body>
    void with_stores(Body body)
    {
        test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
            stores all(pool);
            co_await body(all);
        });
    }

    static awaitable<registered> add(stores& all, registration what)
    {
        const auto fresh = make_token();
        const auto done = co_await all.known.register_workspace(what, fresh.kept, caller::proven);
        co_return done.value();
    }

    static awaitable<std::string> create(stores& all, std::string name)
    {
        const new_workspace what{
            .id = make_uuid_v4(), .name = std::move(name), .inbound_secret = make_secret()};
        const auto fresh = make_token();
        const auto made = co_await all.directory.create(what, fresh.kept);
        co_return made.value();
    }

    std::string ask(const std::string& column) { return db.ask("SELECT " + column + " FROM workspaces"); }

    test::scratch_database db;
    const uuid a = make_uuid_v4();
};

TEST_F(workspaces_in_database, the_secret_is_made_once_and_stays_until_it_is_rotated)
{
    with_stores([&](stores& all) -> awaitable<void> {
        registration what{.id = a, .url = "http://a.example"};
        what.inbound_secret = "first";
        EXPECT_EQ((co_await add(all, what)).inbound_secret, "first");
        what.inbound_secret = "second";
        EXPECT_EQ((co_await add(all, what)).inbound_secret, "first");
        EXPECT_EQ((co_await all.known.callback_of(a)).value().inbound_secret, "first");
        EXPECT_EQ((co_await all.known.callback_of(a)).value().url, "http://a.example");
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "third", inbound_secret::keep)).value(), "first");
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "third", inbound_secret::rotate)).value(),
                  "third");
        EXPECT_EQ((co_await all.known.callback_of(a)).value().inbound_secret, "third");
        EXPECT_EQ((co_await all.known.agent_of(a, caller::proven)).value().inbound_secret, "third");
    });
}

TEST_F(workspaces_in_database, a_missing_secret_is_filled_by_whoever_is_first)
{
    with_stores([&](stores& all) -> awaitable<void> {
        db.sql("INSERT INTO workspaces (id, url) VALUES ('" + to_string(a) + "', NULL)");
        const auto before = co_await all.known.callback_of(a);
        EXPECT_FALSE(before.value().inbound_secret);
        EXPECT_EQ(before->url, "");
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "one", inbound_secret::keep)).value(), "one");
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "two", inbound_secret::keep)).value(), "one");
    });
}

TEST_F(workspaces_in_database, unknown_and_removed_workspaces_have_no_secret)
{
    with_stores([&](stores& all) -> awaitable<void> {
        EXPECT_EQ((co_await all.known.callback_of(a)).error(), errc::workspace_not_found);
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "x", inbound_secret::keep)).error(),
                  errc::workspace_not_found);
        EXPECT_EQ((co_await all.known.agent_of(a, caller::proven)).error(), errc::workspace_not_found);
        co_await add(all, {.id = a, .inbound_secret = "s"});
        co_await all.known.remove(a);
        EXPECT_EQ((co_await all.known.callback_of(a)).error(), errc::workspace_not_found);
        EXPECT_EQ((co_await all.known.set_inbound_secret(a, "x", inbound_secret::rotate)).error(),
                  errc::workspace_not_found);
        EXPECT_EQ(ask("platform_inbound_secret"), "s");
        EXPECT_EQ((co_await all.known.agent_of(a, caller::proven)).error(), errc::workspace_removed);
        EXPECT_EQ((co_await all.known.agent_of(a, caller::unproven)).error(), errc::workspace_removed);
    });
}

TEST_F(workspaces_in_database, an_agent_that_shows_no_token_speaks_only_for_a_workspace_that_never_had_one)
{
    with_stores([&](stores& all) -> awaitable<void> {
        db.sql("INSERT INTO workspaces (id) VALUES ('" + to_string(a) + "')");
        EXPECT_TRUE((co_await all.known.agent_of(a, caller::unproven)).has_value());
        const auto token = make_token();
        co_await all.tokens.mint(a, token.kept);
        EXPECT_EQ((co_await all.known.agent_of(a, caller::unproven)).error(), errc::missing_token);
        co_await all.tokens.revoke(a, token.kept.id);
        EXPECT_EQ((co_await all.known.agent_of(a, caller::unproven)).error(), errc::missing_token)
            << "its last token was revoked: it is not for whoever comes next";
        EXPECT_TRUE((co_await all.known.agent_of(a, caller::proven)).has_value());
    });
}

TEST_F(workspaces_in_database, a_workspace_is_named_by_its_id_until_it_gets_a_name)
{
    with_stores([&](stores& all) -> awaitable<void> {
        EXPECT_EQ((co_await add(all, {.id = a})).name, to_string(a));
        EXPECT_EQ((co_await add(all, {.id = a, .card_name = "card"})).name, "card");
        EXPECT_EQ((co_await add(all, {.id = a, .card_name = "other card"})).name, "card");
        EXPECT_EQ((co_await add(all, {.id = a, .name = "given", .card_name = "card"})).name, "given");
        EXPECT_EQ((co_await add(all, {.id = a})).name, "given");
        EXPECT_TRUE((co_await all.directory.change(a, {.name = "patched"})).has_value());
        EXPECT_EQ((co_await add(all, {.id = a, .card_name = "card"})).name, "patched");
    });
}

TEST_F(workspaces_in_database, a_guessed_mode_does_not_change_a_stored_one)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const registration push{.id = a, .mode = delivery_mode::push, .url = "http://a.example"};
        auto guess = push;
        guess.mode_is_guess = true;
        EXPECT_EQ((co_await add(all, guess)).mode, delivery_mode::push) << "there is none yet";
        co_await add(all, {.id = a, .mode = delivery_mode::poll});
        EXPECT_EQ((co_await add(all, guess)).mode, delivery_mode::poll);
        EXPECT_EQ((co_await add(all, push)).mode, delivery_mode::push);
        db.sql("UPDATE workspaces SET delivery_mode = ''");
        EXPECT_EQ((co_await add(all, guess)).mode, delivery_mode::push);
    });
}

TEST_F(workspaces_in_database, a_workspace_that_is_called_gets_no_url_that_was_taken_for_a_polling_ones)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await add(all, {.id = a, .mode = delivery_mode::push, .url = "http://a.example"});
        registration guess{.id = a, .mode = delivery_mode::poll, .url = "remote://no-inbound"};
        guess.mode_is_guess = true;
        const auto fresh = make_token();
        const auto refused = co_await all.known.register_workspace(guess, fresh.kept, caller::proven);
        EXPECT_EQ(refused.error(), errc::callback_url_not_allowed);
        EXPECT_EQ(ask("url || ' ' || delivery_mode"), "http://a.example push");
        EXPECT_EQ((co_await all.known.agent_of(a, caller::proven)).value().mode, delivery_mode::push);
        co_await add(all, {.id = a, .mode = delivery_mode::poll});
        EXPECT_EQ((co_await add(all, guess)).mode, delivery_mode::poll);
        EXPECT_EQ(ask("url"), "remote://no-inbound");
    });
}

TEST_F(workspaces_in_database, registration_brings_an_agent_online_and_what_an_operator_adds_waits_for_one)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const auto status = [&]() -> awaitable<std::string> {
            co_return (co_await all.directory.find(a)).value()->status;
        };
        co_await add(all, {.id = a, .by = registered_by::operator_});
        EXPECT_EQ((co_await status()), "awaiting_agent");
        co_await add(all, {.id = a});
        EXPECT_EQ((co_await status()), "online");
        co_await add(all, {.id = a, .by = registered_by::operator_});
        EXPECT_EQ((co_await status()), "online");
        db.sql("UPDATE workspace_presence SET status = 'degraded', error_rate = 0.9, current_task = 't'");
        co_await add(all, {.id = a});
        const auto again = co_await all.directory.find(a);
        EXPECT_EQ(again.value()->status, "online");
        EXPECT_EQ(again.value()->error_rate, 0);
        EXPECT_EQ(again.value()->current_task, "");
        co_await all.known.remove(a);
        EXPECT_EQ((co_await status()), "removed");
        EXPECT_EQ(db.ask("SELECT status FROM workspace_presence"), "removed");
    });
}

TEST_F(workspaces_in_database, a_taken_name_gets_a_number)
{
    with_stores([&](stores& all) -> awaitable<void> {
        EXPECT_EQ((co_await create(all, "n")), "n");
        EXPECT_EQ((co_await create(all, "n")), "n (2)");
        EXPECT_EQ((co_await create(all, "n (2)")), "n (2) (2)");
        EXPECT_EQ((co_await create(all, "n")), "n (3)");
        EXPECT_EQ((co_await create(all, "50%_\\")), "50%_\\");
        EXPECT_EQ((co_await create(all, "50%_\\")), "50%_\\ (2)");
        db.sql("UPDATE workspaces SET removed_at = now() WHERE name = 'n (2)'");
        EXPECT_EQ((co_await create(all, "n")), "n (2)");
    });
}

TEST_F(workspaces_in_database, names_taken_at_the_same_time_are_all_different)
{
    with_stores([&](stores& all) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        std::multiset<std::string> names;
        const auto one = [&]() -> awaitable<void> { names.insert(co_await create(all, "same")); };
        for (int i = 0; i < 12; ++i)
            asio::co_spawn(ex, one(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        steady_timer tick(ex);
        while (names.size() < 12) {
            tick.expires_after(std::chrono::milliseconds(1));
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 12u);
    });
}

TEST_F(workspaces_in_database, the_list_comes_in_pages_without_gaps_or_removed_ones)
{
    db.sql(
        "INSERT INTO workspaces (id, name, role, agent_card, created_at) SELECT gen_random_uuid(), 'n' || i, 'Role ' || i,"
        " CASE WHEN i = 7 THEN jsonb_build_object('x', repeat('y', 20000)) ELSE '{\"v\":1}' END,"
        " now() - (i / 10) * interval '1 s' FROM generate_series(1, 250) AS i;"
        "UPDATE workspaces SET removed_at = now() WHERE name = 'n3'");
    with_stores([&](stores& all) -> awaitable<void> {
        std::set<uuid> seen;
        directory_query which;
        for (int pages = 0; pages < 4; ++pages) {
            const auto page = co_await all.directory.page(which);
            for (const auto& each : page.value()) {
                EXPECT_TRUE(seen.insert(each.id).second);
                EXPECT_EQ(each.agent_card.has_value(), each.name != "n7") << "too large for a list";
            }
            if (page->empty())
                break;
            which.after_time = page->back().created_at;
            which.after_id = page->back().id;
        }
        EXPECT_EQ(seen.size(), 249u);

        which = {.search = "ROLE 25"};
        EXPECT_EQ((co_await all.directory.page(which)).value().size(), 2u) << "25 and 250, whatever the case";
        which = {.search = "%"};
        EXPECT_EQ((co_await all.directory.page(which)).value().size(), 0u) << "a text, not a pattern";
        which = {.except = *seen.begin(), .search = "n"};
        for (const auto& each : (co_await all.directory.page(which)).value())
            EXPECT_NE(each.id, *seen.begin());
    });
}

TEST_F(workspaces_in_database, a_card_fills_only_an_empty_place)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await add(all, {.id = a});
        EXPECT_FALSE((co_await all.known.agent_of(a, caller::proven)).value().has_card);
        EXPECT_TRUE((co_await all.directory.fill_card(a, R"({"v":1})")).has_value());
        EXPECT_TRUE((co_await all.directory.fill_card(a, R"({"v":2})")).has_value());
        EXPECT_EQ((co_await all.directory.find(a)).value()->agent_card, R"({"v": 1})");
        EXPECT_TRUE((co_await all.known.agent_of(a, caller::proven)).value().has_card);
    });
}

TEST_F(workspaces_in_database, the_number_of_live_tokens_is_limited_exactly)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await add(all, {.id = a});
        const executor ex = co_await asio::this_coro::executor;
        int minted = 0, refused = 0;
        const auto mint = [&]() -> awaitable<void> {
            const auto token = make_token();
            const auto done = co_await all.tokens.mint(a, token.kept, 5);
            ++(done ? minted : refused);
            if (!done)
                EXPECT_EQ(done.error(), errc::too_many_tokens);
        };
        for (int i = 0; i < 12; ++i)
            asio::co_spawn(ex, mint(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        steady_timer tick(ex);
        while (minted + refused < 12) {
            tick.expires_after(std::chrono::milliseconds(1));
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(minted, 4) << "one is there from the registration";
        const auto token = make_token();
        EXPECT_EQ((co_await all.tokens.mint(make_uuid_v4(), token.kept, 5)).error(),
                  errc::workspace_not_found);
    });
}

TEST_F(workspaces_in_database, registrations_of_one_id_wait_for_each_other_without_a_connection)
{
    test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
        stores all(pool);
        auto holder = co_await pool.begin();
        const statement lock{"test_lock_id",
                             "SELECT pg_advisory_xact_lock(hashtextextended('workspace ' || $1::uuid, 0))"};
        const pq::parameters id(a);
        EXPECT_TRUE((co_await holder->execute(lock, id)).has_value());
        int ended = 0;
        const auto attempt = [&]() -> awaitable<void> {
            const registration what{.id = a};
            const auto fresh = make_token();
            co_await all.known.register_workspace(what, fresh.kept, caller::unproven);
            ++ended;
        };
        const executor ex = co_await asio::this_coro::executor;
        for (int i = 0; i < 10; ++i)
            asio::co_spawn(ex, attempt(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        EXPECT_LE(pool.status().in_use, 2u) << "the holder and the first of them";
        EXPECT_TRUE((co_await all.known.list()).has_value()) << "others find a connection";
        EXPECT_TRUE((co_await holder->commit()).has_value());
        steady_timer tick(ex);
        while (ended < 10) {
            tick.expires_after(std::chrono::milliseconds(1));
            co_await tick.async_wait(use_await);
        }
        EXPECT_EQ(db.ask("SELECT count(*) FROM workspace_auth_tokens"), "1");
    });
}

TEST_F(workspaces_in_database, what_was_revoked_or_changed_in_the_last_minute_can_be_asked_for)
{
    with_stores([&](stores& all) -> awaitable<void> {
        co_await add(all, {.id = a});
        db.sql("UPDATE workspaces SET updated_at = now() - interval '2 minutes'");
        auto changes = co_await all.tokens.recent_changes();
        EXPECT_TRUE(changes.value().revoked_tokens.empty() && changes->changed_workspaces.empty());
        const auto token = make_token();
        co_await all.tokens.mint(a, token.kept);
        co_await all.tokens.revoke(a, token.kept.id);
        changes = co_await all.tokens.recent_changes();
        EXPECT_EQ(changes.value().revoked_tokens, std::vector{token.kept.id});
        co_await all.known.set_inbound_secret(a, "x", inbound_secret::rotate);
        changes = co_await all.tokens.recent_changes();
        EXPECT_EQ(changes.value().changed_workspaces, std::vector{a});
        co_await all.known.remove(a);
        changes = co_await all.tokens.recent_changes();
        EXPECT_EQ(changes.value().revoked_tokens.size(), 2u) << "removal revokes all tokens";
    });
}

}  // namespace
}  // namespace restante
