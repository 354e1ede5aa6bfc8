// What is left of a file when it is gone, and what live clients are told on the way.
#include "storage/receipts.hpp"

#include "storage/sweep.hpp"
#include "test/support/database.hpp"
#include "test/support/pool.hpp"
#include "test/support/run.hpp"
#include "test/support/schema.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using test::make_file;

struct recording_events final : live_event_listener {
    void on_live_event(std::shared_ptr<const live_event> what) noexcept override { heard.push_back(*what); }
    std::vector<live_event> heard;
};

class receipts : public ::testing::Test {
protected:
    receipts() { test::apply_schema(db); }

    struct bed {
        explicit bed(pq::connection_pool& pool, live_event_listener* events)
            : uploads(pool, 24h, events), sweep(pool, events), receipts(pool)
        {
        }
        pending_uploads uploads;
        storage_sweep sweep;
        receipt_store receipts;
    };

    template <class Body>
    void with_bed(Body body, unsigned connections = 4)
    {
        test::with_pool(db.options(), connections, [&](pq::connection_pool& pool) -> awaitable<void> {
            bed all(pool, &events);
            co_await body(all);
        });
    }

    awaitable<uuid> put(bed& b, std::string text = "text")
    {
        auto file = make_file("a.txt", std::move(text));
        const auto stored = co_await b.uploads.put(workspace, std::move(file));
        co_return stored.value();
    }

    awaitable<void> fetch(bed& b, uuid file)
    {
        const std::vector<uuid> workspaces{workspace}, files{file};
        EXPECT_TRUE((co_await b.uploads.mark_fetched(workspaces, files)).has_value());
    }

    awaitable<std::vector<acked_file>> ack(bed& b, uuid file, std::optional<digest32> digest = {})
    {
        const std::vector<file_to_ack> one{{file, digest}};
        co_return (co_await b.uploads.ack(workspace, one)).value();
    }

    awaitable<void> sweep(bed& b)
    {
        task_group tasks(co_await asio::this_coro::executor);
        const sweep_time time(tasks, 30s);
        const auto swept = co_await b.sweep.sweep(0s, time);
        EXPECT_FALSE(swept.failure);
    }

    awaitable<std::string> state(bed& b, uuid file)
    {
        const auto found = co_await b.receipts.find(workspace, file, std::nullopt);
        co_return found ? std::string(to_string(found->state)) : found.error().message();
    }

    void expire(const uuid& file)
    {
        db.sql("UPDATE pending_uploads SET expires_at = now() - interval '1 s' WHERE file_id = '" +
               to_string(file) + "'");
    }

    std::string names() const
    {
        std::string all;
        for (const auto& each : events.heard)
            all += each.name + ' ';
        return all;
    }

    test::scratch_database db;
    recording_events events;
    const uuid workspace = make_uuid_v4();
    const uuid stranger = make_uuid_v4();
};

TEST_F(receipts, follow_a_file_from_its_staging_to_after_its_sweep)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b);
        EXPECT_EQ(co_await state(b, file), "staged");
        co_await fetch(b, file);
        EXPECT_EQ(co_await state(b, file), "fetched");
        co_await ack(b, file);
        EXPECT_EQ(co_await state(b, file), "acked");
        const auto before = co_await b.receipts.find(workspace, file, std::nullopt);

        co_await sweep(b);
        EXPECT_EQ(db.ask("SELECT count(*) FROM pending_uploads"), "0");
        const auto after = co_await b.receipts.find(workspace, file, std::nullopt);
        EXPECT_EQ(after->state, upload_state::acked);
        EXPECT_EQ(after->acked_at, before->acked_at);
        EXPECT_EQ(after->fetched_at, before->fetched_at);
        EXPECT_EQ(after->staged_at, before->staged_at);
        EXPECT_EQ(after->expires_at, before->expires_at);
        EXPECT_EQ(after->sha256, sha256_of("text"));
        EXPECT_EQ(after->filename + ' ' + *after->original_name + ' ' + after->mimetype,
                  "a.txt a.txt text/plain");
        EXPECT_EQ(after->size, 4);
        EXPECT_FALSE(after->expired_at());
    });
}

TEST_F(receipts, an_expired_file_is_expired_before_and_after_its_sweep)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b);
        co_await fetch(b, file);
        expire(file);
        const auto before = co_await b.receipts.find(workspace, file, std::nullopt);
        EXPECT_EQ(before->state, upload_state::expired);
        co_await sweep(b);
        const auto after = co_await b.receipts.find(workspace, file, std::nullopt);
        EXPECT_EQ(after->state, upload_state::expired);
        EXPECT_EQ(after->expired_at(), before->expired_at());
        EXPECT_TRUE(after->fetched_at);
    });
}

TEST_F(receipts, an_expired_file_stays_expired_when_the_clock_is_set_back)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b);
        expire(file);
        co_await sweep(b);
        db.sql("UPDATE upload_outcomes SET expires_at = now() + interval '1 hour'");
        EXPECT_EQ(co_await state(b, file), "expired");
    });
}

TEST_F(receipts, are_written_whoever_removes_a_file)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b, std::string(3'000'000, 'x'));
        co_await ack(b, file);
        // What a server of the version before does.
        db.sql("DELETE FROM pending_uploads WHERE ctid = ANY (ARRAY(SELECT ctid FROM pending_uploads))");
        EXPECT_EQ(co_await state(b, file), "acked");
        EXPECT_EQ(db.ask("SELECT pg_column_size(o.*) < 400 FROM upload_outcomes o"), "t") << "without bytes";
    });
}

TEST_F(receipts, are_shown_to_their_workspace_and_to_the_token_that_staged_the_file)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto mine = make_uuid_v4();
        const auto file = co_await put(b);
        for (const bool gone : {false, true}) {
            const auto of_stranger = co_await b.receipts.find(stranger, file, std::nullopt);
            EXPECT_EQ(of_stranger.error(), errc::receipt_not_found);
            const auto of_nobody = co_await b.receipts.find(workspace, file, mine);
            EXPECT_EQ(of_nobody.error(), errc::receipt_not_found);
            const std::string table = gone ? "upload_outcomes" : "pending_uploads";
            db.sql("UPDATE " + table + " SET staged_by = '" + to_string(mine) + "'");
            EXPECT_TRUE((co_await b.receipts.find(workspace, file, mine)).has_value());
            EXPECT_EQ((co_await b.receipts.find(workspace, file, stranger)).error(), errc::receipt_not_found);
            db.sql("UPDATE " + table + " SET staged_by = NULL");
            expire(file);
            co_await sweep(b);
        }
    });
}

TEST_F(receipts, go_when_their_retention_is_over)
{
    with_bed([&](bed& b) -> awaitable<void> {
        std::vector<uuid> files;
        for (int i = 0; i < 3; ++i)
            files.push_back(co_await put(b));
        co_await ack(b, files[0]);
        co_await ack(b, files[1]);
        db.sql("UPDATE pending_uploads SET acked_at = now() - interval '91 days' WHERE file_id = '" +
               to_string(files[0]) + "'");
        co_await sweep(b);
        expire(files[2]);
        co_await sweep(b);
        task_group tasks(co_await asio::this_coro::executor);
        const sweep_time time(tasks, 30s);
        const auto gone = co_await b.sweep.forget_receipts(24h * 90, time);
        EXPECT_EQ(gone.gone, 1);
        EXPECT_FALSE(gone.more);
        EXPECT_EQ(co_await state(b, files[0]), make_error_code(errc::receipt_not_found).message());
        EXPECT_EQ(co_await state(b, files[1]), "acked");
        EXPECT_EQ(co_await state(b, files[2]), "expired");
    });
}

TEST_F(receipts, a_change_of_state_is_told_once)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b);
        EXPECT_EQ(names(), "");
        co_await fetch(b, file);
        co_await fetch(b, file);
        EXPECT_EQ(names(), "UPLOAD_FETCHED ");
        co_await ack(b, file);
        co_await ack(b, file);
        co_await fetch(b, file);
        EXPECT_EQ(names(), "UPLOAD_FETCHED UPLOAD_ACKED ");
        const auto unread = co_await put(b);
        co_await ack(b, unread);
        co_await fetch(b, unread);  // with ?recover=true
        EXPECT_EQ(names(), "UPLOAD_FETCHED UPLOAD_ACKED UPLOAD_ACKED ");
        co_await sweep(b);
        const auto late = co_await put(b);
        expire(late);
        co_await fetch(b, late);
        co_await sweep(b);
        co_await sweep(b);
        EXPECT_EQ(names(), "UPLOAD_FETCHED UPLOAD_ACKED UPLOAD_ACKED UPLOAD_EXPIRED ");
        const auto found = co_await b.receipts.find(workspace, file, std::nullopt);
        const auto& told = events.heard[1];
        EXPECT_EQ(told.workspace, workspace);
        EXPECT_EQ(told.payload, "{\"file_id\":\"" + to_string(file) +
                                    "\",\"name\":\"a.txt\",\"size\":4,\"sha256\":"
                                    "\"982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1\","
                                    "\"at\":\"" +
                                    rfc3339(*found->acked_at) + "\"}");
    });
}

TEST_F(receipts, of_many_acks_and_fetches_at_once_one_is_told)
{
    with_bed(
        [&](bed& b) -> awaitable<void> {
            const auto file = co_await put(b);
            task_group tasks(co_await asio::this_coro::executor);
            const auto both = [&]() -> awaitable<void> {
                co_await fetch(b, file);
                co_await ack(b, file);
            };
            for (int i = 0; i < 24; ++i)
                tasks.spawn("client", both());
            EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 30s));
            EXPECT_EQ(names(), "UPLOAD_FETCHED UPLOAD_ACKED ");
        },
        8);
}

// A trigger that strikes at COMMIT itself, when all statements have succeeded.
TEST_F(receipts, what_is_not_committed_is_told_to_nobody)
{
    db.sql(
        "CREATE FUNCTION strike() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'struck'; END "
        "$$; CREATE CONSTRAINT TRIGGER strike AFTER UPDATE OR DELETE ON pending_uploads DEFERRABLE INITIALLY "
        "DEFERRED FOR EACH ROW EXECUTE FUNCTION strike()");
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b);
        const std::vector<uuid> workspaces{workspace}, files{file};
        EXPECT_FALSE((co_await b.uploads.mark_fetched(workspaces, files)).has_value());
        const std::vector<file_to_ack> one{{file}};
        EXPECT_FALSE((co_await b.uploads.ack(workspace, one)).has_value());
        db.sql("ALTER TABLE pending_uploads DISABLE TRIGGER strike");
        expire(file);
        db.sql("ALTER TABLE pending_uploads ENABLE TRIGGER strike");
        task_group tasks(co_await asio::this_coro::executor);
        const sweep_time time(tasks, 5s);
        EXPECT_TRUE((co_await b.sweep.sweep(0s, time)).failure);
        EXPECT_EQ(names(), "");
        EXPECT_EQ(db.ask("SELECT count(*) FROM upload_outcomes"), "0");
    });
}

TEST_F(receipts, an_ack_of_other_bytes_acks_nothing)
{
    with_bed([&](bed& b) -> awaitable<void> {
        const auto file = co_await put(b), other = co_await put(b);
        auto wrong = sha256_of("text");
        wrong[31] ^= 1;
        const std::vector<file_to_ack> both{{file, wrong}, {other, sha256_of("text")}};
        const auto done = co_await b.uploads.ack(workspace, both);
        EXPECT_EQ(done->size(), 2u);
        for (const auto& each : *done)
            EXPECT_EQ(each.mismatched, each.what.file == file);
        EXPECT_EQ(co_await state(b, file), "staged");
        EXPECT_EQ(co_await state(b, other), "acked");
        EXPECT_EQ(names(), "UPLOAD_ACKED ");

        const auto right = co_await ack(b, file, sha256_of("text"));
        EXPECT_FALSE(right[0].mismatched || right[0].again);
        const auto late = co_await ack(b, file, wrong);
        EXPECT_TRUE(late[0].mismatched) << "it is not what was acked, either";
        const auto of_stranger = co_await b.uploads.ack(stranger, both);
        EXPECT_TRUE(of_stranger->empty()) << "which digest a file has is nobody else's business";
    });
}

}  // namespace
}  // namespace restante
