#include "storage/content/inline_store.hpp"
#include "storage/fetch_stamps.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/sweep.hpp"
#include "test/support/database.hpp"
#include "test/support/pool.hpp"
#include "test/support/run.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

#include <random>

namespace restante {
namespace {

using namespace std::chrono_literals;
using want = pending_uploads::want;
using acked = pending_uploads::acked;
using test::make_file;

// Collects the bytes, and can run a callback in between.
struct collecting_sink {
    error_code write(std::span<const char> bytes)
    {
        largest = std::max(largest, bytes.size());
        text.append(bytes.begin(), bytes.end());
        if (between)
            between();
        return failure;
    }

    std::string text;
    std::size_t largest = 0;
    std::function<void()> between;
    error_code failure;
};

class fetch_and_ack : public ::testing::Test {
protected:
    fetch_and_ack() { test::apply_schema(db); }

    template <class Body>
    void with_uploads(Body body, unsigned connections = 4)
    {
        test::with_pool(db.options(), connections, [&](pq::connection_pool& pool) -> awaitable<void> {
            pending_uploads uploads(pool, 24h);
            co_await body(uploads, pool);
        });
    }

    awaitable<uuid> put(pending_uploads& uploads, std::string text)
    {
        auto file = make_file("a.txt", std::move(text));
        auto stored = co_await uploads.put(workspace, std::move(file));
        co_return stored.value();
    }

    static awaitable<error_code> read_content(pq::connection_pool& pool, uuid owner, uuid file,
                                              std::uint64_t first, std::uint64_t length, collecting_sink& to)
    {
        inline_store rows(pool);
        const stored_content what{.file_id = file, .workspace_id = owner, .key = {}, .size = first + length};
        const content_part part{first, length};
        auto reader = co_await rows.open(what, part);
        if (!reader)
            co_return reader.error();
        for (std::uint64_t done = 0; done < length;) {
            const auto piece = co_await (*reader)->next();
            if (!piece)
                co_return piece.error();
            if (auto ec = to.write(*piece))
                co_return ec;
            done += piece->size();
        }
        co_return error_code{};
    }

    static std::string noise(std::size_t size)
    {
        std::minstd_rand random(static_cast<unsigned>(size));
        std::string text(size, '\0');
        std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
        return text;
    }

    std::string column(const uuid& file, const std::string& name)
    {
        return db.ask("SELECT " + name + " FROM pending_uploads WHERE file_id = '" + to_string(file) + "'");
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
    const uuid stranger = make_uuid_v4();
};

TEST_F(fetch_and_ack, a_small_file_comes_with_its_bytes_and_a_large_one_in_slices)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
        for (const std::size_t size :
             {std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{3'000'001}}) {
            const auto text = noise(size);
            const auto file = co_await put(uploads, text);
            const auto got = co_await uploads.get(workspace, file, want::content);
            EXPECT_EQ(got->file.size, static_cast<std::int64_t>(size));
            EXPECT_EQ(got->file.sha256, sha256_of(text));
            EXPECT_EQ(got->file.filename, "a.txt");
            EXPECT_EQ(got->content.has_value(), size <= 1u << 20);
            if (got->content) {
                EXPECT_TRUE(std::string(got->content->begin(), got->content->end()) == text);
            }
            collecting_sink whole, part;
            EXPECT_FALSE(co_await read_content(pool, workspace, file, 0, size, whole));
            EXPECT_TRUE(whole.text == text);
            EXPECT_LE(whole.largest, 256u * 1024);
            EXPECT_FALSE(co_await read_content(pool, workspace, file, size / 3, size - size / 3, part));
            EXPECT_TRUE(part.text == text.substr(size / 3));
            const auto facts = co_await uploads.get(workspace, file, want::facts);
            EXPECT_FALSE(facts->content);
        }
    });
}

TEST_F(fetch_and_ack, what_is_absent_expired_acked_or_anothers_is_not_found)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
        const auto file = co_await put(uploads, "text");
        const std::vector<file_to_ack> one{{file}};
        EXPECT_EQ((co_await uploads.get(stranger, file, want::content)).error(), errc::not_found);
        EXPECT_EQ((co_await uploads.get(workspace, stranger, want::content)).error(), errc::not_found);
        EXPECT_TRUE((co_await uploads.ack(stranger, one))->empty());
        collecting_sink nothing;
        EXPECT_EQ(co_await read_content(pool, stranger, file, 0, 4, nothing), errc::not_found);
        EXPECT_EQ(nothing.text, "");

        const auto done = co_await uploads.ack(workspace, one);
        EXPECT_EQ(done->size(), 1u);
        EXPECT_EQ(done->front().what.size, 4);
        EXPECT_FALSE(done->front().again || done->front().raced);
        EXPECT_EQ((co_await uploads.get(workspace, file, want::content)).error(), errc::not_found);
        EXPECT_TRUE((co_await uploads.get(workspace, file, want::content, acked::shown)).has_value());

        const auto late = co_await put(uploads, "late");
        db.sql("UPDATE pending_uploads SET expires_at = now() - interval '1 s'");
        const std::vector<file_to_ack> both{{late}, {file}};
        EXPECT_EQ((co_await uploads.get(workspace, late, want::content)).error(), errc::not_found);
        EXPECT_EQ((co_await uploads.get(workspace, late, want::content, acked::shown)).error(),
                  errc::not_found);
        const auto again = co_await uploads.ack(workspace, both);
        EXPECT_EQ(again->size(), 1u) << "an ack that was given stands, expired or not";
        EXPECT_TRUE(again->front().again);
    });
}

TEST_F(fetch_and_ack, a_file_deleted_in_the_middle_of_a_read_is_read_to_its_end)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
        const auto text = noise(2'000'000);
        const auto file = co_await put(uploads, text);
        collecting_sink sink;
        sink.between = [&] { db.sql("DELETE FROM pending_uploads"); };
        EXPECT_FALSE(co_await read_content(pool, workspace, file, 0, text.size(), sink));
        EXPECT_TRUE(sink.text == text);
        EXPECT_EQ(co_await read_content(pool, workspace, file, 0, text.size(), sink), errc::not_found);
    });
}

TEST_F(fetch_and_ack, a_sink_that_fails_ends_the_read_and_frees_the_connection)
{
    with_uploads(
        [&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
            const auto file = co_await put(uploads, noise(2'000'000));
            collecting_sink sink;
            sink.failure = errc::no_room;
            for (int i = 0; i < 5; ++i)
                EXPECT_EQ(co_await read_content(pool, workspace, file, 0, 2'000'000, sink), errc::no_room);
            EXPECT_EQ(sink.text.size(), 5u * 256 * 1024);
        },
        1);
}

TEST_F(fetch_and_ack, an_ack_overtaken_by_a_sweep_says_so)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
        const auto file = co_await put(uploads, "text");
        static const statement take{"take", "DELETE FROM pending_uploads WHERE file_id = $1::uuid"};
        auto sweep = co_await pool.begin();
        const pq::parameters with(file);
        co_await sweep->execute(take, with);
        std::optional<std::vector<acked_file>> told;
        const std::vector<file_to_ack> one{{file}};
        const auto ack = [&]() -> awaitable<void> {
            auto done = co_await uploads.ack(workspace, one);
            told = done.value();
        };
        const executor ex = co_await asio::this_coro::executor;
        task_group tasks(ex);
        tasks.spawn("ack", ack());
        steady_timer tick(ex);
        const std::string waits =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
            "wait_event_type = 'Lock'";
        for (int i = 0; i < 500 && db.ask(waits) != "1"; ++i) {
            tick.expires_after(10ms);
            co_await tick.async_wait(use_await);
        }
        co_await sweep->commit();
        EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 5s));
        EXPECT_EQ(told->size(), 1u);
        EXPECT_TRUE(told->front().raced);
    });
}

TEST_F(fetch_and_ack, double_acks_from_four_clients_leave_the_first_moment_standing)
{
    with_uploads(
        [&](pending_uploads& uploads, pq::connection_pool&) -> awaitable<void> {
            std::vector<file_to_ack> files;
            for (int i = 0; i < 50; ++i)
                files.push_back({co_await put(uploads, "text")});
            db.sql(
                "CREATE TABLE moments (file_id uuid, acked_at timestamptz); "
                "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF old.acked_at IS "
                "DISTINCT FROM "
                "new.acked_at THEN INSERT INTO moments VALUES (new.file_id, new.acked_at); END IF; RETURN "
                "new; END $$; "
                "CREATE TRIGGER note AFTER UPDATE ON pending_uploads FOR EACH ROW EXECUTE FUNCTION note()");
            int fresh = 0, again = 0, missing = 0;
            // Each client acks in its own order, in batches of ten, concurrently: a deadlock would show as a
            // failure.
            const auto client = [&](unsigned seed) -> awaitable<void> {
                auto mine = files;
                std::shuffle(mine.begin(), mine.end(), std::minstd_rand(seed));
                for (int round = 0; round < 2; ++round) {
                    for (std::size_t at = 0; at < mine.size(); at += 10) {
                        const auto done = co_await uploads.ack(workspace, std::span(mine).subspan(at, 10));
                        missing += done ? 10 - static_cast<int>(done->size()) : 10;
                        for (const auto& file : done.value())
                            ++(file.again ? again : fresh);
                    }
                }
            };
            task_group tasks(co_await asio::this_coro::executor);
            for (unsigned seed = 1; seed <= 4; ++seed)
                tasks.spawn("client", client(seed));
            EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 30s));
            EXPECT_EQ(missing, 0);
            EXPECT_EQ(fresh, 50) << "just one ack of a file is told that it was the first";
            EXPECT_EQ(again, 350);
            EXPECT_EQ(db.ask("SELECT count(*) = 50 AND count(DISTINCT file_id) = 50 FROM moments"), "t");
        },
        6);
}

TEST_F(fetch_and_ack, the_list_pages_through_what_waits)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool&) -> awaitable<void> {
        std::vector<new_file> batch;
        for (int i = 0; i < 7; ++i)
            batch.push_back(make_file(std::to_string(i), "text"));
        co_await uploads.put_batch(workspace, std::move(batch));  // the same timestamp: ids decide
        std::vector<uuid> seen;
        std::optional<uuid> after;
        for (;;) {
            const auto page = co_await uploads.list(workspace, 2, after);
            if (page->empty())
                break;
            for (const auto& file : *page)
                seen.push_back(file.file_id);
            after = seen.back();
        }
        EXPECT_EQ(seen.size(), 7u);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
        EXPECT_TRUE((co_await uploads.list(stranger, 100, {}))->empty());
        EXPECT_EQ((co_await uploads.list(workspace, 100, stranger))->size(), 7u)
            << "an unknown place is the beginning";
    });
}

TEST_F(fetch_and_ack, the_list_is_in_the_order_of_the_parts)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool&) -> awaitable<void> {
        std::vector<new_file> batch;
        std::string expected, listed;
        for (int i = 10; i < 74; ++i) {
            batch.push_back(make_file(std::to_string(i), "text"));
            expected += std::to_string(i) + ' ';
        }
        co_await uploads.put_batch(workspace, std::move(batch));
        const auto page = co_await uploads.list(workspace, 100, {});
        for (const auto& file : *page)
            listed += file.filename + ' ';
        EXPECT_EQ(listed, expected);
    });
}

TEST_F(fetch_and_ack, the_list_goes_on_after_a_file_that_has_been_swept)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool&) -> awaitable<void> {
        for (const auto* name : {"long ago", "seen", "next"})
            co_await uploads.put_batch(workspace, {make_file(name, "text")});
        db.sql(
            "UPDATE pending_uploads SET created_at = now() - interval '1 hour' WHERE filename = 'long ago'");
        const auto all = co_await uploads.list(workspace, 100, {});
        const uuid seen = (*all)[1].file_id;
        db.sql("DELETE FROM pending_uploads WHERE filename = 'seen'");
        const auto rest = co_await uploads.list(workspace, 100, seen);
        EXPECT_EQ(rest->size(), 1u) << "it does not start over";
        EXPECT_EQ(rest->at(0).filename, "next");

        // The database's clock may be behind ours.
        db.sql(
            "UPDATE pending_uploads SET created_at = now() - interval '4 minutes' WHERE filename = 'next'");
        EXPECT_EQ((co_await uploads.list(workspace, 100, seen))->size(), 1u);
    });
}

TEST_F(fetch_and_ack, stamps_are_written_together_and_drained_at_the_end)
{
    with_uploads([&](pending_uploads& uploads, pq::connection_pool&) -> awaitable<void> {
        const auto file = co_await put(uploads, "text");
        const auto other = co_await put(uploads, "text");
        fetch_stamps stamps;
        stamps.note(workspace, file);
        stamps.note(workspace, file);
        stamps.note(stranger, other);
        task_group tasks(co_await asio::this_coro::executor);
        tasks.spawn("writer", run_fetch_stamp_writer(stamps, uploads, tasks));
        tasks.request_stop();
        EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 5s));
        EXPECT_EQ(column(file, "fetched_at IS NOT NULL"), "t");
        EXPECT_EQ(column(other, "fetched_at IS NULL"), "t") << "the workspace is named in the statement too";
        EXPECT_TRUE(stamps.take().files.empty());
    });
}

// Files are staged, fetched, acked and immediately swept while others still read them: a fetch returns all
// bytes or none.
TEST_F(fetch_and_ack, five_thousand_fetches_against_a_sweeper_every_100_ms)
{
    with_uploads(
        [&](pending_uploads& uploads, pq::connection_pool& pool) -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            storage_sweep sweeper(pool);
            task_group fetchers(ex), sweepers(ex);
            int fetches = 0, gone = 0, wrong = 0;
            std::int64_t swept = 0;
            bool done = false;
            const auto sweep = [&]() -> awaitable<void> {
                steady_timer tick(ex);
                while (!done) {
                    tick.expires_after(100ms);
                    co_await tick.async_wait(use_await);
                    const sweep_time time(sweepers, 5s);
                    const auto outcome = co_await sweeper.sweep(0us, time);
                    swept += outcome.gone.acked;
                }
            };
            const auto fetch = [&](unsigned seed) -> awaitable<void> {
                std::minstd_rand random(seed);
                while (fetches < 5'000) {
                    const auto text = noise(random() % 20 == 0 ? 1'500'000 : 1 + random() % 5'000);
                    const auto file = co_await put(uploads, text);
                    const std::vector<file_to_ack> one{{file}};
                    for (int i = 0; i < 20; ++i, ++fetches) {
                        if (i == 10)
                            co_await uploads.ack(workspace, one);
                        const auto got = co_await uploads.get(workspace, file, want::content, acked::shown);
                        if (!got) {
                            gone += got.error() == errc::not_found;
                            wrong += got.error() != errc::not_found;
                            continue;
                        }
                        if (got->content) {
                            wrong += !std::equal(text.begin(), text.end(), got->content->begin(),
                                                 got->content->end());
                            continue;
                        }
                        collecting_sink sink;
                        const auto ec = co_await read_content(pool, workspace, file, 0, text.size(), sink);
                        wrong += ec ? ec != errc::not_found || !sink.text.empty() : sink.text != text;
                    }
                }
            };
            sweepers.spawn("sweep", sweep());
            for (unsigned seed = 1; seed <= 6; ++seed)
                fetchers.spawn("fetch", fetch(seed));
            EXPECT_TRUE(co_await fetchers.finished(std::chrono::steady_clock::now() + 120s));
            done = true;
            EXPECT_TRUE(co_await sweepers.finished(std::chrono::steady_clock::now() + 10s));
            EXPECT_EQ(wrong, 0);
            EXPECT_GE(fetches, 5'000);
            EXPECT_GT(gone, 0);
            EXPECT_GT(swept, 10);
        },
        8);
}

}  // namespace
}  // namespace restante
