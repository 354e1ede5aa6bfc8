#include "storage/activity_feed.hpp"
#include "storage/activity_log.hpp"
#include "test/support/database.hpp"
#include "test/support/run.hpp"
#include "test/support/running_pool.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace restante {
namespace {

using namespace std::chrono_literals;

// One way to number rows and to follow them. The harness below tries to make a follower miss some.
class ordering {
public:
    virtual ~ordering() = default;

    // Writes rows with these ids in the transaction, up to but not including COMMIT.
    virtual awaitable<error_code> write(pq::transaction& tx, const uuid& workspace,
                                        const std::vector<uuid>& ids) = 0;

    // A follower's position in a workspace between two polls.
    struct place {
        uuid workspace{};
        std::optional<uuid> last_id;
        std::optional<timestamp> last_time;
    };
    virtual awaitable<result<std::vector<uuid>>> read_on(place& from, int limit) = 0;

    // The committed ids of a workspace in order, one per line.
    virtual std::string truth(const uuid& workspace) const = 0;
};

// The product's own: publish_activities() and activity_feed.
class by_seq final : public ordering {
public:
    explicit by_seq(pq::connection_pool& db) : log_(db, listener_), feed_(db) {}

    awaitable<error_code> write(pq::transaction& tx, const uuid& workspace,
                                const std::vector<uuid>& ids) override
    {
        activity_rows rows;
        for (const auto& id : ids) {
            auto row = std::make_shared<feed_entry>();
            row->what.id = id;
            row->what.workspace_id = workspace;
            row->what.activity_type = "agent_log";
            rows.push_back(std::move(row));
        }
        log_.log_activity_tx(tx, rows);
        co_return error_code{};
    }

    awaitable<result<std::vector<uuid>>> read_on(place& from, int limit) override
    {
        feed_query query{.workspace = from.workspace, .since_id = from.last_id, .limit = limit};
        if (!from.last_id)
            query.since_seq = 0;
        const auto page = co_await feed_.read(query);
        if (!page)
            co_return page.error();
        std::vector<uuid> ids;
        for (int i = 0; i < page->size(); ++i)
            ids.push_back((*page)[i]->id);
        if (!ids.empty())
            from.last_id = ids.back();
        co_return ids;
    }

    std::string truth(const uuid& workspace) const override
    {
        return "SELECT coalesce(string_agg(id::text, '' ORDER BY seq), '') FROM activity_logs WHERE "
               "workspace_id = '" +
               to_string(workspace) + "'";
    }

    const std::vector<std::shared_ptr<const feed_entry>>& heard() const { return listener_.heard; }

private:
    test::recording_listener listener_;
    activity_log log_;
    activity_feed feed_;
};

// Deliberately wrong: rows carry the start time of their transaction, and followers ask for rows newer than
// the newest they have received.
class by_created_at final : public ordering {
public:
    explicit by_created_at(pq::connection_pool& db) : db_(db) {}

    static constexpr const char* schema =
        "CREATE TABLE naive (id uuid PRIMARY KEY, workspace_id uuid, created_at timestamptz DEFAULT now())";

    awaitable<error_code> write(pq::transaction& tx, const uuid& workspace,
                                const std::vector<uuid>& ids) override
    {
        static const statement insert{
            "naive_insert", "INSERT INTO naive (workspace_id, id) SELECT $1::uuid, unnest($2::uuid[])"};
        const pq::parameters with(workspace, std::span<const uuid>(ids));
        tx.queue(insert, with);
        co_return error_code{};
    }

    awaitable<result<std::vector<uuid>>> read_on(place& from, int limit) override
    {
        static const statement select{
            "naive_read",
            "SELECT id, created_at FROM naive WHERE workspace_id = $1::uuid AND created_at > "
            "coalesce($2::timestamptz, '-infinity') ORDER BY created_at LIMIT $3::int8"};
        const pq::parameters with(from.workspace, from.last_time, std::int64_t{limit});
        auto rows = co_await db_.execute(select, with);
        if (!rows)
            co_return rows.error();
        std::vector<uuid> ids;
        for (int i = 0; i < rows->size(); ++i) {
            ids.push_back(*(*rows)[i][0].as<uuid>());
            from.last_time = *(*rows)[i][1].as<timestamp>();
        }
        co_return ids;
    }

    std::string truth(const uuid& workspace) const override
    {
        return "SELECT coalesce(string_agg(id::text, '' ORDER BY created_at, id), '') FROM naive WHERE "
               "workspace_id = '" +
               to_string(workspace) + "'";
    }

private:
    pq::connection_pool& db_;
};

// Eight writers, four followers and a session killer on one shard.
class harness {
public:
    static constexpr int writers = 8;
    static constexpr int limits[] = {1, 7, 100, 100};

    harness(executor ex, ordering& order, pq::connection_pool& db, const test::scratch_database& database,
            int rows)
        : ex_(ex), order_(order), db_(db), database_(database), rows_left_(rows)
    {
        for (int i = 0; i < 3; ++i)
            workspaces_.push_back(make_uuid_v4());
    }

    awaitable<void> run()
    {
        for (int i = 0; i < writers; ++i)
            start(write(static_cast<unsigned>(i)), writing_);
        for (const int limit : limits)
            start(follow(limit), following_);
        start(kill_backends(), killing_);
        steady_timer tick(ex_);
        while (writing_ + following_ + killing_ > 0) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
    }

    // Rows that a follower missed, received twice, or received in another order than the commit order.
    int losses() const
    {
        int wrong = 0;
        for (const auto& [place, seen] : seen_) {
            const auto truth = database_.ask(order_.truth(place.second));
            std::string got;
            for (const auto& id : seen)
                append_to(got, id);
            if (got == truth)
                continue;
            const auto missing = static_cast<int>(truth.size() / 36) - static_cast<int>(seen.size());
            wrong += std::max(missing, 1);
        }
        return wrong;
    }

    const std::vector<uuid>& workspaces() const { return workspaces_; }
    int rolled_back() const { return rolled_back_; }
    int broken() const { return broken_; }

private:
    void start(awaitable<void> task, int& running)
    {
        ++running;
        asio::co_spawn(ex_, std::move(task), [&running](std::exception_ptr failure) {
            --running;
            EXPECT_FALSE(failure) << "a task threw";
        });
    }

    awaitable<void> pause(std::chrono::microseconds delay)
    {
        steady_timer timer(ex_, delay);
        co_await timer.async_wait(use_await);
    }

    awaitable<void> write(unsigned seed)
    {
        std::minstd_rand random(seed + 1);
        while (rows_left_ > 0) {
            std::vector<uuid> ids(1 + random() % 5);
            std::generate(ids.begin(), ids.end(), make_uuid_v7);
            rows_left_ -= static_cast<int>(ids.size());
            auto tx = co_await db_.begin();
            if (!tx) {
                ++broken_;
                co_await pause(1ms);
                continue;
            }
            co_await order_.write(*tx, workspaces_[random() % 3], ids);
            const auto fate = random() % 100;
            if (fate < 40) {
                auto flushed = co_await tx->flush();
                if (!flushed) {
                    ++broken_;
                    continue;
                }
                co_await pause(std::chrono::microseconds(random() % 4000));
            }
            if (fate < 15) {
                ++rolled_back_;
                continue;  // rolled back with the transaction
            }
            auto done = co_await tx->commit();
            broken_ += done ? 0 : 1;
        }
    }

    awaitable<void> follow(int limit)
    {
        const int number = ++followers_;
        std::vector<ordering::place> places;
        for (const auto& workspace : workspaces_)
            places.push_back({workspace, {}, {}});
        // Once all writers are done, an empty page of every workspace is the end.
        for (bool last_round = false;;) {
            bool quiet = true;
            for (auto& place : places) {
                const auto got = co_await order_.read_on(place, limit);
                quiet = quiet && got && got->empty();
                if (!got)
                    continue;
                auto& seen = seen_[{number, place.workspace}];
                seen.insert(seen.end(), got->begin(), got->end());
            }
            if (quiet && last_round)
                break;
            last_round = writing_ == 0;
            if (quiet)
                co_await pause(1ms);
        }
    }

    awaitable<void> kill_backends()
    {
        static const statement kill{
            "kill_one",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"};
        const auto options = database_.options();
        auto session = co_await pq::connection::open(options);
        while (writing_ > 0) {
            co_await pause(200ms);
            if (session && !(*session)->broken())
                co_await (*session)->execute(kill);
        }
    }

    executor ex_;
    ordering& order_;
    pq::connection_pool& db_;
    const test::scratch_database& database_;
    int rows_left_;
    std::vector<uuid> workspaces_;
    std::map<std::pair<int, uuid>, std::vector<uuid>> seen_;
    int writing_ = 0, following_ = 0, killing_ = 0, followers_ = 0;
    int rolled_back_ = 0, broken_ = 0;
};

class feed_holes : public ::testing::Test {
protected:
    template <class Body>
    void with_pool(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            pq::connection_pool pool(ex, {.connect = db.options(), .connections = 14, .wait_limit = 10s});
            const auto work = [&] { return body(ex, pool); };
            co_await test::with_running(pool, work);
        });
    }

    test::scratch_database db;
};

TEST_F(feed_holes, followers_see_every_committed_row_once_and_in_order)
{
    test::apply_schema(db);
    with_pool([&](executor ex, pq::connection_pool& pool) -> awaitable<void> {
        by_seq order(pool);
        harness all(ex, order, pool, db, 20'000);
        co_await all.run();
        EXPECT_EQ(all.losses(), 0);
        EXPECT_GT(all.rolled_back(), 100);
        EXPECT_GT(all.broken(), 5) << "nobody was killed at work";
        EXPECT_EQ(db.ask("SELECT bool_and(rows = newest AND newest = head) FROM (SELECT count(*) AS rows, "
                         "max(a.seq) AS "
                         "newest, max(h.seq) AS head FROM activity_logs AS a JOIN activity_heads AS h USING "
                         "(workspace_id) GROUP BY workspace_id) AS w"),
                  "t");
        // Every announced row is visible.
        std::vector<std::string> told;
        for (const auto& row : order.heard())
            told.push_back("'" + to_string(row->what.id) + "'");
        EXPECT_GT(told.size(), 10'000u);
        std::string list;
        for (const auto& id : told)
            list += (list.empty() ? "" : ",") + id;
        EXPECT_EQ(db.ask("SELECT count(*) FROM activity_logs WHERE id IN (" + list + ")"),
                  std::to_string(told.size()));
    });
}

TEST_F(feed_holes, the_harness_finds_the_losses_of_a_wrong_ordering)
{
    db.sql(by_created_at::schema);
    with_pool([&](executor ex, pq::connection_pool& pool) -> awaitable<void> {
        by_created_at order(pool);
        harness all(ex, order, pool, db, 3'000);
        co_await all.run();
        EXPECT_GT(all.losses(), 10);
    });
}

}  // namespace
}  // namespace restante
