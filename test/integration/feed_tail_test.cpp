#include "storage/feed_tail.hpp"

#include "storage/activity_log.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

class reading_the_tail : public ::testing::Test {
protected:
    struct reader {
        reader(executor ex, const test::scratch_database& db)
            : pool(ex, {.connect = db.options(), .connections = 2}), log(pool, listener), tail(pool)
        {
        }

        pq::connection_pool pool;
        test::recording_listener listener;
        activity_log log;
        feed_tail tail;
    };

    reading_the_tail() { test::apply_schema(db); }

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

    static awaitable<void> write(reader& r, uuid workspace, int rows, std::size_t bytes)
    {
        for (int i = 0; i < rows; ++i) {
            activity row;
            row.id = make_uuid_v7();
            row.workspace_id = workspace;
            row.activity_type = "agent_log";
            row.request_body = '"' + std::string(bytes, 'x') + '"';
            const auto done = co_await r.log.log_activity(std::move(row));
            EXPECT_TRUE(done.has_value());
        }
    }

    test::scratch_database db;
    const uuid first = make_uuid_v4();
    const uuid second = make_uuid_v4();
};

TEST_F(reading_the_tail, small_rows_come_in_the_order_of_the_cursors)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, first, 3, 10);
        co_await write(r, second, 20, 10);
        const std::vector<activity_head> cursors{{second, 1}, {first, 1}, {make_uuid_v4(), 0}};
        const auto read = co_await r.tail.read_after(cursors, feed_tail::most_rows_each);
        EXPECT_TRUE(read->complete);
        EXPECT_EQ(read->rows.size(), feed_tail::most_rows_each + 2);
        EXPECT_EQ(read->rows[0]->workspace_id, second);
        EXPECT_EQ(read->rows[0]->seq, 2);
        EXPECT_EQ(read->rows[feed_tail::most_rows_each]->workspace_id, first);
        EXPECT_EQ(read->rows[feed_tail::most_rows_each]->seq, 2);
        const auto fewer = co_await r.tail.read_after(cursors, 1);
        EXPECT_TRUE(fewer->complete);
        EXPECT_EQ(fewer->rows.size(), 2);
        const std::vector<activity_head> at_the_end{{first, 3}};
        const auto nothing = co_await r.tail.read_after(at_the_end, 1);
        EXPECT_TRUE(nothing->complete && nothing->rows.empty());
    });
}

TEST_F(reading_the_tail, large_rows_come_a_few_at_a_time_and_all_in_the_end)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, first, 7, 900'000);
        co_await write(r, second, 2, 900'000);
        std::vector<activity_head> cursors{{first, 0}, {second, 0}};
        int reads = 0;
        for (bool complete = false; !complete && reads < 20; ++reads) {
            const auto read = co_await r.tail.read_after(cursors, feed_tail::most_rows_each);
            EXPECT_FALSE(read->rows.empty());
            EXPECT_LE(read->rows.memory(), 2u << 20);
            for (int i = 0; i < read->rows.size(); ++i) {
                auto& cursor = cursors[read->rows[i]->workspace_id == first ? 0 : 1];
                EXPECT_EQ(read->rows[i]->seq, ++cursor.seq);
            }
            complete = read->complete;
        }
        EXPECT_EQ(reads, 9) << "two rows of 900 kB are too much";
        EXPECT_EQ(cursors[0].seq, 7);
        EXPECT_EQ(cursors[1].seq, 2);
    });
}

TEST_F(reading_the_tail, one_row_comes_however_large_it_is)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, first, 2, 1'000'000);
        const std::vector<activity_head> cursors{{first, 0}};
        const auto read = co_await r.tail.read_after(cursors, feed_tail::most_rows_each);
        EXPECT_EQ(read->rows.size(), 1);
        EXPECT_FALSE(read->complete);
    });
}

TEST_F(reading_the_tail, rows_that_no_frame_shows_whole_come_without_their_bodies)
{
    with_reader([&](reader& r) -> awaitable<void> {
        co_await write(r, first, 5, 3'000'000);
        co_await write(r, first, 1, 10);
        const std::vector<activity_head> cursors{{first, 0}};
        const auto read = co_await r.tail.read_after(cursors, feed_tail::most_rows_each);
        EXPECT_EQ(read->rows.size(), 6);
        EXPECT_TRUE(read->complete);
        EXPECT_LT(read->rows.memory(), 100'000u);
        for (int i = 0; i < 6; ++i) {
            const auto row = read->rows[i];
            EXPECT_EQ(row->bodies_left_out, i < 5);
            EXPECT_EQ(row->request_body.has_value(), i == 5);
        }

        activity_feed feed(r.pool);
        const feed_query limited{
            .workspace = first, .since_seq = 0, .max_bytes = 1, .max_row_bytes = feed_tail::max_row_bytes};
        const auto page = co_await feed.read(limited);
        EXPECT_EQ(page->size(), 6);
        EXPECT_LT(page->memory(), 100'000u);
        EXPECT_TRUE((*page)[0]->bodies_left_out && !(*page)[0]->request_body);
        EXPECT_EQ((*page)[0]->status, "ok") << "texts come all the same";
        const feed_query whole{.workspace = first, .since_seq = 0, .max_bytes = 1};
        const auto first_row = co_await feed.read(whole);
        EXPECT_EQ(first_row->size(), 1);
        EXPECT_FALSE((*first_row)[0]->bodies_left_out);
        EXPECT_EQ((*first_row)[0]->request_body->size(), 3'000'002u);
    });
}

}  // namespace
}  // namespace restante
