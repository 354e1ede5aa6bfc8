#include "storage/activity_feed.hpp"

#include "storage/activity_log.hpp"
#include "storage/feed_statements.hpp"
#include "storage/inbox_cursors.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace restante {
namespace {

using namespace std::chrono_literals;

struct reader {
    reader(executor ex, const test::scratch_database& db)
        : pool(ex, {.connect = db.options(), .connections = 2}),
          log(pool, listener),
          feed(pool),
          cursors(pool)
    {
    }

    pq::connection_pool pool;
    test::recording_listener listener;
    activity_log log;
    activity_feed feed;
    inbox_cursors cursors;
};

class reading_the_feed : public ::testing::Test {
protected:
    reading_the_feed() { test::apply_schema(db); }

    template <class Body>
    void with_reader(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            reader r(ex, db);
            const auto work = [&] { return body(r); };
            co_await test::with_running(r.pool, work);
        });
    }

    awaitable<void> write(reader& r, std::string type, std::optional<uuid> source, std::optional<uuid> target)
    {
        activity row{.id = make_uuid_v7(),
                     .workspace_id = workspace,
                     .activity_type = std::move(type),
                     .source_id = source,
                     .target_id = target,
                     .method = "m",
                     .summary = {},
                     .request_body = R"({"a":  1.50})",
                     .response_body = {},
                     .tool_trace = {},
                     .duration_ms = 7,
                     .error_detail = {}};
        auto done = co_await r.log.log_activity(std::move(row));
        EXPECT_TRUE(done.has_value());
    }

    // The sequence numbers of the page, as "3 2 1", or the error message.
    awaitable<std::string> seqs(reader& r, feed_query query)
    {
        query.workspace = workspace;
        const auto page = co_await r.feed.read(query);
        if (!page)
            co_return page.error().message();
        std::string out;
        for (int i = 0; i < page->size(); ++i)
            out += (i ? " " : "") + std::to_string((*page)[i]->seq);
        co_return out;
    }

    struct expectation {
        feed_query query;
        std::string seqs;
    };

    awaitable<void> expect(reader& r, const std::vector<expectation>& all)
    {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto got = co_await seqs(r, all[i].query);
            EXPECT_EQ(got, all[i].seqs) << "expectation " << i;
        }
    }

    std::optional<uuid> id_of(int seq)
    {
        return parse_uuid(db.ask("SELECT id FROM activity_logs WHERE workspace_id = '" +
                                 to_string(workspace) + "' AND seq = " + std::to_string(seq)));
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
    const uuid peer = make_uuid_v4();
    const std::optional<uuid> nobody;
};

TEST_F(reading_the_feed, pages_by_cursor_are_oldest_first_and_without_one_newest_first)
{
    with_reader([&](reader& r) -> awaitable<void> {
        const std::vector<expectation> when_empty{{{}, ""}, {{.since_seq = 0}, ""}};
        co_await expect(r, when_empty);
        for (int i = 0; i < 5; ++i)
            co_await write(r, "a2a_receive", nobody, workspace);
        const std::vector<expectation> with_five{
            {{}, "5 4 3 2 1"},
            {{.limit = 2}, "5 4"},
            {{.since_seq = 0, .limit = 3}, "1 2 3"},
            {{.since_seq = 3}, "4 5"},
            {{.since_seq = 5}, ""},
            {{.since_id = id_of(2)}, "3 4 5"},
            {{.since_id = id_of(2), .limit = 1}, "3"},
            {{.since_id = id_of(5)}, ""},
        };
        co_await expect(r, with_five);
    });
}

TEST_F(reading_the_feed, an_unknown_cursor_and_one_of_another_workspace_are_gone)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, "a2a_receive", nobody, workspace);
        const feed_query unknown{.workspace = workspace, .since_id = make_uuid_v4()};
        const auto nothing = co_await r.feed.read(unknown);
        EXPECT_EQ(nothing.error(), errc::cursor_gone);
        const feed_query foreign{.workspace = peer, .since_id = id_of(1)};
        const auto page = co_await r.feed.read(foreign);
        EXPECT_EQ(page.error(), errc::cursor_gone);
    });
}

TEST_F(reading_the_feed, a_number_below_what_retention_removed_is_gone)
{
    with_reader([&](reader& r) -> awaitable<void> {
        for (int i = 0; i < 6; ++i)
            co_await write(r, "a2a_receive", nobody, workspace);
        db.sql("DELETE FROM activity_logs WHERE seq <= 3");
        for (const std::int64_t removed : {1, 2}) {
            for (const auto& filter :
                 {feed_query{}, feed_query{.type = "none"}, feed_query{.peer_info = true}}) {
                auto query = filter;
                query.workspace = workspace;
                query.since_seq = removed;
                EXPECT_EQ((co_await r.feed.read(query)).error(), errc::cursor_gone) << removed;
            }
        }
        const std::vector<expectation> kept{{{.since_seq = 0}, "4 5 6"},
                                            {{.since_seq = 0, .limit = 1}, "4"},
                                            {{.since_seq = 3}, "4 5 6"},
                                            {{.since_seq = 4}, "5 6"},
                                            {{.since_seq = 6}, ""}};
        co_await expect(r, kept);
        db.sql("DELETE FROM activity_logs");
        const std::vector<expectation> nothing_left{{{.since_seq = 0}, ""}, {{.since_seq = 6}, ""}};
        co_await expect(r, nothing_left);
        const feed_query removed{.workspace = workspace, .since_seq = 5};
        EXPECT_EQ((co_await r.feed.read(removed)).error(), errc::cursor_gone);
    });
}

TEST_F(reading_the_feed, a_number_that_is_not_reached_yet_is_gone)
{
    with_reader([&](reader& r) -> awaitable<void> {
        const auto expect_gone = [&](std::int64_t ahead) -> awaitable<void> {
            const feed_query query{.workspace = workspace, .since_seq = ahead};
            EXPECT_EQ((co_await r.feed.read(query)).error(), errc::cursor_gone) << ahead;
        };
        co_await expect_gone(1);  // nothing has ever been written
        for (int i = 0; i < 3; ++i)
            co_await write(r, "a2a_receive", nobody, workspace);
        for (const std::int64_t ahead :
             {std::int64_t{4}, std::int64_t{5}, std::numeric_limits<std::int64_t>::max()})
            co_await expect_gone(ahead);
        db.sql("DELETE FROM activity_logs");
        co_await expect_gone(4);
    });
}

TEST_F(reading_the_feed, every_filter_shows_what_it_names_from_both_ends)
{
    with_reader([&](reader& r) -> awaitable<void> {
        const auto other = make_uuid_v4();
        co_await write(r, "a2a_receive", nobody, workspace);  // 1: an upload
        co_await write(r, "a2a_receive", peer, workspace);    // 2: from the peer
        co_await write(r, "a2a_send", workspace, peer);       // 3: to the peer
        co_await write(r, "error", nobody, nobody);           // 4
        co_await write(r, "error", other, workspace);         // 5
        co_await write(r, "task_update", peer, peer);         // 6: from and to the peer, shown once
        co_await write(r, "agent_log", workspace, nobody);    // 7

        const auto canvas = activity_source::canvas, agent = activity_source::agent;
        const std::vector<expectation> filters{
            {{.type = "a2a_receive"}, "1 2"},
            {{.type = "error"}, "4 5"},
            {{.type = "memory_write"}, ""},
            {{.type = "'; DROP TABLE activity_logs; --"}, ""},
            {{.source = canvas}, "1 4"},
            {{.source = agent}, "2 3 5 6 7"},
            {{.type = "error", .source = canvas}, "4"},
            {{.type = "error", .source = agent}, "5"},
            {{.peer = peer}, "2 3 6"},
            {{.type = "a2a_send", .peer = peer}, "3"},
            {{.source = canvas, .peer = peer}, ""},
            {{.source = agent, .peer = peer}, "2 3 6"},
            {{.peer = other}, "5"},
            {{.peer = make_uuid_v4()}, ""},
            {{.peer = workspace}, "1 2 3 5 7"},
            {{.type = "error", .source = agent, .peer = workspace}, "5"},
        };
        std::vector<expectation> all;
        for (const auto& [filter, forward] : filters) {
            for (const bool with_peers : {false, true}) {
                auto query = filter;
                query.peer_info = with_peers;
                all.push_back({query, {forward.rbegin(), forward.rend()}});
                query.since_seq = 0;
                all.push_back({query, forward});
                query.since_seq = {};
                query.since_id = id_of(1);
                all.push_back({query, forward.starts_with("1") ? forward.substr(2) : forward});
            }
        }
        co_await expect(r, all);
    });
}

TEST_F(reading_the_feed, times_are_bounds_by_the_databases_clock)
{
    with_reader([&](reader& r) -> awaitable<void> {
        for (int i = 0; i < 4; ++i)
            co_await write(r, "a2a_receive", nobody, workspace);
        db.sql("UPDATE activity_logs SET created_at = now() - (5 - seq) * interval '1 hour'");
        const auto cut =
            std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) - 150min;
        const std::vector<expectation> all{
            {{.since = 9000s}, "4 3"},
            {{.since_seq = 0, .since = 9000s}, "3 4"},
            {{.since_seq = 3, .since = 9000s}, "4"},
            {{.since = 1s}, ""},
            {{.before = cut}, "2 1"},
            {{.since_seq = 1, .before = cut}, "2"},
            {{.type = "a2a_receive", .since = 12600s, .before = cut}, "2"},
        };
        co_await expect(r, all);
    });
}

TEST_F(reading_the_feed, a_row_comes_out_as_it_went_in_and_knows_its_peer)
{
    with_reader([&](reader& r) -> awaitable<void> {
        db.sql("INSERT INTO workspaces (id, name, agent_card) VALUES ('" + to_string(peer) +
               "', 'Ada', '{\"role\":\"engineer\"}')");
        co_await write(r, "a2a_receive", peer, workspace);
        co_await write(r, "a2a_send", workspace, peer);
        co_await write(r, "a2a_receive", nobody, workspace);
        const feed_query query{.workspace = workspace, .since_seq = 0, .peer_info = true};
        const auto page = co_await r.feed.read(query);
        const auto row = (*page)[0];
        EXPECT_EQ(row->workspace_id, workspace);
        EXPECT_EQ(row->activity_type, "a2a_receive");
        EXPECT_EQ(row->source_id, peer);
        EXPECT_EQ(row->target_id, workspace);
        EXPECT_EQ(row->method, "m");
        EXPECT_FALSE(row->summary || row->error_detail || row->response_body || row->tool_trace);
        EXPECT_EQ(row->duration_ms, 7);
        EXPECT_EQ(row->status, "ok");
        EXPECT_EQ(row->request_body, R"({"a":  1.50})");
        EXPECT_EQ(row->peer_name, "Ada");
        EXPECT_EQ(row->peer_role, "engineer");
        EXPECT_EQ((*page)[1]->peer_name, "Ada");
        EXPECT_FALSE((*page)[2]->peer_name);
    });
}

TEST_F(reading_the_feed, large_bodies_come_whole_and_a_page_of_them_has_an_end)
{
    with_reader([&](reader& r) -> awaitable<void> {
        const std::string body = '"' + std::string(1'000'000, 'x') + '"';
        for (int i = 0; i < 12; ++i) {
            activity row;
            row.id = make_uuid_v7();
            row.workspace_id = workspace;
            row.activity_type = "agent_log";
            if (i != 1)
                (i % 2 ? row.request_body : row.tool_trace) = body;
            co_await r.log.log_activity(std::move(row));
        }
        feed_query query{.workspace = workspace, .since_seq = 0};
        const auto page = co_await r.feed.read(query);
        EXPECT_EQ(page->size(), 3) << "two of them are all that fits, and one row is small";
        EXPECT_EQ(page->reaches(), 3);
        EXPECT_EQ((*page)[0]->tool_trace, body);
        EXPECT_FALSE((*page)[0]->request_body || (*page)[1]->request_body);
        query.since_seq = 3;
        const auto rest = co_await r.feed.read(query);
        EXPECT_EQ(rest->size(), 2);
        EXPECT_EQ((*rest)[0]->request_body, body);
        query.max_bytes = 1;
        const auto one = co_await r.feed.read(query);
        EXPECT_EQ(one->size(), 1) << "never nothing";
    });
}

TEST_F(reading_the_feed, a_page_of_many_middling_rows_has_an_end_too)
{
    db.sql(
        "INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at, request_body, summary) "
        "SELECT gen_random_uuid(), '" +
        to_string(workspace) +
        "', i, 'agent_log', now(), to_json(repeat('x', 16000)), repeat('s', 4000) "
        "FROM generate_series(1, 300) AS i");
    with_reader([&](reader& r) -> awaitable<void> {
        feed_query query{.workspace = workspace, .since_seq = 0, .limit = 500};
        std::vector<std::int64_t> seen;
        for (int pages = 0; pages < 10; ++pages) {
            const auto page = co_await r.feed.read(query);
            if (page->empty())
                break;
            EXPECT_LT(page->memory(), 3u << 20);
            EXPECT_LT(page->size(), 110);
            for (int i = 0; i < page->size(); ++i)
                seen.push_back((*page)[i]->seq);
            query.since_seq = page->reaches();
        }
        EXPECT_EQ(seen.size(), 300u);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
        query.since_seq.reset();
        const auto newest = co_await r.feed.read(query);
        EXPECT_GT(newest->size(), 90);
        EXPECT_EQ((*newest)[0]->seq, 300);
        EXPECT_EQ((*newest)[1]->seq, 299);
    });
}

TEST_F(reading_the_feed, a_page_is_charged_to_its_workspace_until_it_ends)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, "agent_log", {}, {});
        memory_budget memory(64 * 1024);
        activity_feed charged(r.pool, memory);
        const feed_query query{.workspace = workspace, .since_seq = 0};
        {
            const auto page = co_await charged.read(query);
            EXPECT_EQ(memory.used(memory_use::page), page->memory());
        }
        EXPECT_EQ(memory.used(), 0u);
        memory.take(memory_use::body, workspace, 32 * 1024);
        const auto refused = co_await charged.read(query);
        EXPECT_EQ(refused.error(), errc::no_room);
        EXPECT_EQ(memory.used(memory_use::page), 0u);
    });
}

TEST_F(reading_the_feed, heads_tell_how_far_each_workspace_is)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, "a2a_receive", nobody, workspace);
        co_await write(r, "a2a_receive", nobody, workspace);
        const std::vector<uuid> asked{peer, workspace};
        const auto heads = co_await r.feed.heads(asked);
        EXPECT_EQ(heads->size(), 1u);
        EXPECT_EQ(heads->front().workspace, workspace);
        EXPECT_EQ(heads->front().seq, 2);
    });
}

TEST_F(reading_the_feed, the_kept_cursor_goes_forward_and_never_past_the_newest_row)
{
    with_reader([&](reader& r) -> awaitable<void> {
        EXPECT_EQ(*co_await r.cursors.read(workspace), 0);
        EXPECT_EQ(*co_await r.cursors.advance(workspace, 5), 0);
        for (int i = 0; i < 3; ++i)
            co_await write(r, "a2a_receive", nobody, workspace);
        EXPECT_EQ(*co_await r.cursors.advance(workspace, 2), 2);
        EXPECT_EQ(*co_await r.cursors.advance(workspace, 1), 2);
        EXPECT_EQ(*co_await r.cursors.advance(workspace, std::numeric_limits<std::int64_t>::max()), 3);
        EXPECT_EQ(*co_await r.cursors.read(workspace), 3);
    });
}

// The plans that PostgreSQL chooses when one plan must serve all values, on a table whose statistics say that
// rows are few: no sequential scan, no sort of rows that an index has in order.
TEST_F(reading_the_feed, every_statement_walks_an_index_whatever_the_statistics_say)
{
    db.sql(
        "INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at) "
        "SELECT gen_random_uuid(), '" +
        to_string(workspace) +
        "', n, 'agent_log', now() FROM generate_series(1, 20) n; "
        "ANALYZE");
    constexpr int own_parameters[] = {0, 1, 0, 0, 1, 1, 3, 2};  // by shape
    test::run([&]() -> awaitable<void> {
        const auto options = db.options();
        auto session = co_await pq::connection::open(options);
        for (const auto start : {feed_start::newest, feed_start::after_id, feed_start::after_seq}) {
            for (int shape = 0; shape <= static_cast<int>(feed_shape::self); ++shape) {
                const auto& made = feed_statement(start, static_cast<feed_shape>(shape), false);
                const std::string name = made.name;
                std::string arguments = "NULL, NULL, NULL, NULL, NULL";
                for (int i = 0; i < own_parameters[shape]; ++i)
                    arguments += ", NULL";
                const std::string script = "PREPARE " + name + " AS " + made.text +
                                           "; EXPLAIN (FORMAT json) EXECUTE " + name + "(" + arguments + ")";
                const auto plan = co_await (*session)->execute_script(script);
                EXPECT_TRUE(plan.has_value()) << name << ": " << (*session)->last_message();
                const auto text = plan ? plan->text(0, 0) : "";
                EXPECT_EQ(text.find("Seq Scan"), std::string::npos) << name << text;
                EXPECT_EQ(text.find("Bitmap"), std::string::npos) << name << text;
                EXPECT_EQ(text.find("\"Sort\""), std::string::npos) << name << text;
            }
        }
    });
}

}  // namespace
}  // namespace restante
