#include "storage/activity_log.hpp"
#include "storage/staging.hpp"
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
using test::make_upload;

// Whether each transaction that stores something durable waits for the disk: a deferred trigger records the
// setting when COMMIT runs, after anything that the transaction could have changed.
constexpr const char* notes_at_commit = R"(
CREATE TABLE notes (of text, waits_for_disk boolean);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notes VALUES (TG_TABLE_NAME, current_setting('synchronous_commit') = 'on');
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON pending_uploads DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON activity_logs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON upload_requests DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note();
)";

class durability : public ::testing::Test {
protected:
    durability()
    {
        test::apply_schema(db);
        db.sql(notes_at_commit);
    }

    std::string notes()
    {
        return db.ask("SELECT string_agg(DISTINCT of || ' ' || waits_for_disk, ', ') FROM notes");
    }

    test::scratch_database db;
    const uuid workspace = make_uuid_v4();
};

TEST_F(durability, what_is_confirmed_is_on_the_disk)
{
    test::with_pool(db.options(), 4, [&](pq::connection_pool& pool) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        test::recording_listener nobody;
        pending_uploads uploads(pool, 24h);
        activity_log log(pool, nobody);
        upload_requests requests(pool, 24h);
        staging stage(ex, pool, uploads, log, requests);

        std::vector<file_to_ack> ids;
        for (const std::size_t size : {1u, 3u << 20}) {
            std::vector<new_file> files;
            files.push_back(make_file("a", std::string(size, 'x')));
            ids.push_back({files.front().file_id});
            auto load = make_upload(workspace, std::move(files));
            EXPECT_TRUE((co_await stage.stage(std::move(load))).has_value());
            EXPECT_EQ(notes(), "activity_logs true, pending_uploads true, upload_requests true");
            db.sql("TRUNCATE notes");
        }

        EXPECT_EQ((co_await uploads.ack(workspace, ids))->size(), 2u);
        EXPECT_EQ(notes(), "pending_uploads true");
        db.sql("TRUNCATE notes");

        activity row{.id = make_uuid_v7(), .workspace_id = workspace, .activity_type = "agent_log"};
        EXPECT_TRUE((co_await log.log_activity(std::move(row))).has_value());
        EXPECT_EQ(notes(), "activity_logs true");
    });
}

}  // namespace
}  // namespace restante
