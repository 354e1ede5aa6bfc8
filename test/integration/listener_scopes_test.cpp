// What listeners hear, by the scope of their tokens.
#include "server/events/hub.hpp"
#include "test/support/database.hpp"
#include "test/support/pool.hpp"
#include "test/support/schema.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

class listener_scopes : public ::testing::Test {
protected:
    listener_scopes() { test::apply_schema(db); }

    template <class Body>
    void at_a_hub(Body body)
    {
        test::with_pool(db.options(), 2, [&](pq::connection_pool& pool) -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            metric_set metrics;
            feed_tail tail(pool);
            hub at(ex, tail, metrics);
            co_await body(at);
        });
    }

    principal holder_of(token_scope scope) const
    {
        return {.kind = principal_kind::workspace,
                .scope = scope,
                .token = make_uuid_v4(),
                .workspace = {.id = workspace}};
    }

    std::shared_ptr<live_event> acked(std::optional<uuid> staged_by) const
    {
        return std::make_shared<live_event>(live_event{
            .workspace = workspace, .name = "UPLOAD_ACKED", .payload = "{}", .staged_by = staged_by});
    }

    // How many events are queued; they are taken.
    static int heard(subscriber& listener)
    {
        int count = 0;
        for (; listener.has_events(); ++count)
            listener.take();
        return count;
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
};

TEST_F(listener_scopes, senders_hear_of_their_own_files_and_nothing_else)
{
    at_a_hub([&](hub& at) -> awaitable<void> {
        for (const auto scope : {token_scope::upload, token_scope::grant}) {
            const auto who = holder_of(scope);
            const auto sender = (co_await at.subscribe(who, workspace)).value();
            const auto owner = (co_await at.subscribe(holder_of(token_scope::read), workspace)).value();
            at.on_live_event(acked(who.token));
            EXPECT_EQ(heard(*sender), 1);
            EXPECT_EQ(heard(*owner), 1);
            at.on_live_event(acked(make_uuid_v4()));
            at.on_live_event(acked(std::nullopt));
            EXPECT_EQ(heard(*sender), 0) << "another's file, and one of the admin";
            EXPECT_EQ(heard(*owner), 2);
        }
    });
}

TEST_F(listener_scopes, the_feed_is_not_for_senders)
{
    db.sql("INSERT INTO activity_heads (workspace_id, seq, last_at) VALUES ('" + to_string(workspace) +
           "', 7, now())");
    at_a_hub([&](hub& at) -> awaitable<void> {
        const auto sender = (co_await at.subscribe(holder_of(token_scope::upload), workspace)).value();
        const auto owner = (co_await at.subscribe(holder_of(token_scope::full), workspace)).value();
        EXPECT_EQ(owner->start(), 7);
        EXPECT_EQ(sender->start(), 0) << "how long the feed is would tell how much others send";
        auto row = std::make_shared<feed_entry>();
        row->what.workspace_id = workspace;
        row->seq = 8;
        at.on_commit(row);
        EXPECT_EQ(heard(*owner), 1);
        EXPECT_EQ(heard(*sender), 0);
    });
}

TEST_F(listener_scopes, agents_that_listen_are_present_whatever_they_hear)
{
    at_a_hub([&](hub& at) -> awaitable<void> {
        const auto present = [&] {
            std::vector<uuid> found;
            at.add_present(found);
            return found;
        };
        const principal admin{.kind = principal_kind::admin};
        const auto canvas = (co_await at.subscribe(admin, std::nullopt)).value();
        const auto reader = (co_await at.subscribe(holder_of(token_scope::read), workspace)).value();
        EXPECT_TRUE(present().empty()) << "they look in, and are nobody's agent";
        {
            const auto own = (co_await at.subscribe(holder_of(token_scope::full), workspace)).value();
            EXPECT_EQ(present(), std::vector{workspace});
        }
        const auto all = (co_await at.subscribe(holder_of(token_scope::full), std::nullopt)).value();
        EXPECT_EQ(present(), std::vector{workspace}) << "as an agent hears its peers";
    });
}

}  // namespace
}  // namespace restante
