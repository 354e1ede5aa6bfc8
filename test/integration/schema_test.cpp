// Guarantees of the migrations' SQL itself, whoever calls it.
#include "storage/migration_plan.hpp"
#include "test/support/database.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <sstream>

namespace restante {
namespace {

using testing::HasSubstr;

const std::string workspace = "'11111111-1111-4111-8111-111111111111'::uuid";

// A call that publishes one row per digit; a digit selects the workspace, and 1 is the one above.
std::string publish_for(const std::string& digits)
{
    const auto count = std::to_string(digits.size());
    return "publish_counted(NULL, NULL, 0, 0, "
           "(SELECT array_agg(('11111111-1111-4111-8111-11111111111' || d)::uuid ORDER BY n) "
           "FROM string_to_table('" +
           digits +
           "', NULL) WITH ORDINALITY AS t (d, n)), "
           "(SELECT array_agg(gen_random_uuid()) FROM generate_series(1, " +
           count + ")), array_fill('error'::text, ARRAY[" + count +
           "]), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";
}

// Calls as made by servers of the versions before: two rows of one workspace.
const std::string publish_as_before = "publish_activity(" + workspace +
                                      ", ARRAY[gen_random_uuid(), gen_random_uuid()], '{error,error}', "
                                      "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";

class schema_test : public testing::Test {
protected:
    schema_test() { run(direction::up); }

    void run(direction way)
    {
        for (std::size_t i = 0; i < known_.size(); ++i)
            db_.sql(std::string(way == direction::up ? known_[i].up : known_[known_.size() - 1 - i].down));
    }

    // Publishes in its own transaction and returns the sequence numbers: "1,2,3".
    std::string numbers(const std::string& call)
    {
        return db_.ask("SELECT string_agg(seq::text, ',') FROM " + call);
    }
    std::string publish(std::size_t n) { return numbers(publish_for(std::string(n, '1'))); }

    // Rows 1 … n of the workspace, a minute apart, the first on the hour.
    void write_history(int n)
    {
        db_.sql(
            "INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at) SELECT "
            "gen_random_uuid(), " +
            workspace +
            ", n, 'error', timestamptz '2026-01-01 00:00Z' + (n - 1) * interval '1 minute' "
            "FROM generate_series(1, " +
            std::to_string(n) +
            ") n; "
            "INSERT INTO activity_heads SELECT workspace_id, max(seq), max(created_at) FROM activity_logs "
            "GROUP BY 1");
    }

    std::string seq_before(const std::string& time)
    {
        return db_.ask("SELECT activity_seq_before(" + workspace + ", timestamptz '" + time + "')");
    }

    // The error message of the SQL, or empty.
    std::string refusal(const std::string& sql)
    {
        try {
            db_.sql(sql);
        } catch (const std::exception& e) {
            return e.what();
        }
        return "";
    }

    test::scratch_database db_;
    const std::vector<migration> known_ = *read_migrations(embedded_sql());
};

TEST_F(schema_test, goes_down_without_a_trace_and_up_again)
{
    run(direction::down);
    EXPECT_EQ(db_.ask("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"), "0");
    EXPECT_EQ(db_.ask("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"), "0");
    run(direction::up);
    EXPECT_EQ(publish(1), "1");
}

TEST_F(schema_test, numbers_are_dense_and_in_input_order)
{
    EXPECT_EQ(publish(3), "1,2,3");
    EXPECT_EQ(publish(1), "4");
    EXPECT_EQ(db_.ask("BEGIN; SELECT seq FROM " + publish_for("1")), "5")
        << "and then the session ends without a COMMIT";
    EXPECT_EQ(publish(64).substr(0, 4), "5,6,") << "a rollback gives its numbers back";
}

TEST_F(schema_test, one_call_publishes_for_several_workspaces)
{
    EXPECT_EQ(numbers(publish_for("3132113")), "1,1,2,1,2,3,3");
    EXPECT_EQ(numbers(publish_for("213")), "2,4,4");
    EXPECT_EQ(numbers(publish_for("2122")), "3,5,4,5");
    EXPECT_EQ(
        db_.ask(
            "SELECT string_agg(right(workspace_id::text, 1) || '#' || seq, ' ' ORDER BY workspace_id, seq) "
            "FROM activity_logs"),
        "1#1 1#2 1#3 1#4 1#5 2#1 2#2 2#3 2#4 2#5 3#1 3#2 3#3 3#4");
    EXPECT_EQ(
        db_.ask("SELECT string_agg(right(workspace_id::text, 1) || '#' || seq, ' ' ORDER BY workspace_id) "
                "FROM activity_heads"),
        "1#5 2#5 3#4");
}

TEST_F(schema_test, servers_of_the_version_before_count_on)
{
    EXPECT_EQ(publish(1), "1");
    EXPECT_EQ(numbers(publish_as_before), "2,3");
    EXPECT_EQ(publish(2), "4,5");
}

TEST_F(schema_test, calls_for_the_same_workspaces_in_opposite_order_do_not_deadlock)
{
    const auto writer = [](const std::string& digits) {
        return "DO $$ BEGIN FOR i IN 1..150 LOOP PERFORM " + publish_for(digits) +
               "; PERFORM pg_sleep(0.0005); COMMIT; END LOOP; END $$";
    };
    std::vector<std::future<void>> writers;
    for (const auto* digits : {"123456789", "987654321", "918273645", "546372819"})
        writers.push_back(std::async(std::launch::async, [&, digits] { db_.sql(writer(digits)); }));
    for (auto& one : writers)
        EXPECT_NO_THROW(one.get());
    EXPECT_EQ(db_.ask("SELECT min(seq) || ' ' || max(seq) || ' ' || count(*) FROM activity_heads"),
              "600 600 9");
}

TEST_F(schema_test, json_comes_out_as_it_went_in)
{
    const std::string odd = R"({"b":1e1000000, "a":"\u0000", "b":2})";
    db_.sql("SELECT seq FROM publish_activities(ARRAY[" + workspace +
            "], ARRAY[gen_random_uuid()], '{error}', NULL, NULL, NULL, NULL, "
            "ARRAY['" +
            odd + "'], NULL, NULL, NULL, NULL, NULL)");
    EXPECT_EQ(db_.ask("SELECT request_body FROM activity_logs"), odd);
}

// The purpose of activity_heads: a reader that remembers the last number it read misses nothing, however the
// writers' transactions overlap, whether they commit or not, and whichever version they are.
TEST_F(schema_test, a_reader_that_follows_the_numbers_misses_nothing)
{
    const auto writer = [](const std::string& call) {
        return "DO $$ BEGIN FOR i IN 1..60 LOOP PERFORM " + call +
               "; PERFORM pg_sleep(random() * 0.004); "
               "IF i % 5 = 0 THEN ROLLBACK; ELSE COMMIT; END IF; END LOOP; END $$";
    };
    std::vector<std::future<void>> writers;
    for (int i = 0; i < 5; ++i) {
        const auto call = i % 2 ? publish_as_before : publish_for("11");
        writers.push_back(std::async(std::launch::async, [&, call] { db_.sql(writer(call)); }));
    }

    constexpr long expected = 5L * 60 * 4 / 5 * 2;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    long last = 0;
    while (last < expected && std::chrono::steady_clock::now() < deadline) {
        // Everything after the last number read: how many rows, and the greatest number among them.
        std::istringstream page(db_.ask(
            "SELECT count(*) || ' ' || coalesce(max(seq), " + std::to_string(last) +
            ") FROM activity_logs WHERE workspace_id = " + workspace + " AND seq > " + std::to_string(last)));
        long rows = 0, greatest = 0;
        page >> rows >> greatest;
        ASSERT_EQ(greatest, last + rows) << "a number appeared before a smaller one";
        last = greatest;
    }
    for (auto& one : writers)
        one.get();
    EXPECT_EQ(last, expected);
    EXPECT_EQ(db_.ask("SELECT count(*) FROM activity_logs a JOIN activity_logs b ON b.seq = a.seq + 1 "
                      "WHERE b.created_at < a.created_at"),
              "0")
        << "times rise with the numbers";
}

TEST_F(schema_test, a_clock_that_goes_back_does_not_turn_times_round)
{
    publish(1);
    db_.sql("UPDATE activity_heads SET last_at = '2999-01-01Z'");
    publish(1);
    EXPECT_EQ(db_.ask("SELECT created_at = '2999-01-01Z' FROM activity_logs WHERE seq = 2"), "t");
}

TEST_F(schema_test, finds_the_last_row_before_a_moment)
{
    EXPECT_EQ(seq_before("2026-01-01 00:30Z"), "0");
    write_history(100);
    EXPECT_EQ(seq_before("2025-12-31Z"), "0");
    EXPECT_EQ(seq_before("2026-01-01 00:00Z"), "0");
    EXPECT_EQ(seq_before("2026-01-01 00:00:01Z"), "1");
    EXPECT_EQ(seq_before("2026-01-01 00:30Z"), "30");
    EXPECT_EQ(seq_before("infinity"), "100");

    // Retention deletes rows, usually the oldest.
    db_.sql("DELETE FROM activity_logs WHERE seq < 10 OR seq IN (29, 30, 31)");
    EXPECT_EQ(seq_before("2026-01-01 00:00:01Z"), "9");
    EXPECT_EQ(seq_before("2026-01-01 00:30Z"), "28");
    EXPECT_EQ(seq_before("2026-01-01 00:31:30Z"), "32");
}

TEST_F(schema_test, forgets_what_is_old_but_never_the_newest)
{
    write_history(100);
    const std::string nil = "'00000000-0000-0000-0000-000000000000'";
    const auto forget = "SELECT gone FROM forget_activity(interval '0', " + nil + ")";
    EXPECT_EQ(db_.ask("SELECT gone FROM forget_activity(interval '100 years', " + nil + ")"), "0");
    EXPECT_EQ(db_.ask(forget), "99");
    EXPECT_EQ(db_.ask(forget), "0");
    EXPECT_EQ(db_.ask("SELECT seq FROM activity_logs"), "100");
    EXPECT_EQ(publish(1), "101");
}

TEST_F(schema_test, a_staged_file_is_as_large_as_it_says)
{
    const auto put = [&](const std::string& content, const std::string& size, const std::string& name) {
        return refusal(
            "INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256) VALUES (" +
            workspace + ", " + content + ", " + size + ", " + name + ", sha256(''))");
    };
    EXPECT_EQ(put("'abc'", "3", "'a'"), "");
    EXPECT_THAT(put("'abc'", "4", "'a'"), HasSubstr("pending_uploads_size_is_true"));
    EXPECT_THAT(put("''", "0", "'a'"), HasSubstr("pending_uploads_content_is_somewhere"));
    EXPECT_THAT(put("repeat('x', 26214401)::bytea", "26214401", "'a'"),
                HasSubstr("pending_uploads_content_is_somewhere"));
    EXPECT_THAT(put("'abc'", "3", "''"), HasSubstr("pending_uploads_filename_check"));
    EXPECT_THAT(put("'abc'", "3", "repeat('x', 101)"), HasSubstr("pending_uploads_filename_check"));
    EXPECT_EQ(db_.ask("SELECT expires_at - created_at FROM pending_uploads"), "1 day");
}

TEST_F(schema_test, the_application_role_can_serve_and_nothing_more)
{
    std::ifstream file("sql/roles/application_role.sql");
    std::ostringstream role;
    role << file.rdbuf();
    db_.sql(role.str());
    db_.sql(role.str());

    const auto as_server = [&](const std::string& sql) { return refusal("SET ROLE restante_app; " + sql); };
    EXPECT_EQ(as_server("SELECT seq FROM " + publish_as_before), "");
    EXPECT_EQ(as_server("SELECT seq FROM " + publish_for("12")), "");
    EXPECT_EQ(as_server("SELECT forget_activity(interval '1 day', gen_random_uuid()), activity_seq_before(" +
                        workspace + ", now())"),
              "");
    EXPECT_EQ(
        as_server("INSERT INTO workspaces (id) VALUES (gen_random_uuid()); UPDATE workspaces SET url = ''"),
        "");
    EXPECT_EQ(
        as_server("SELECT count_waiting(" + workspace + "), recount_waiting(1, 1, " + workspace +
                  "), fullest_workspace(1, 1), set_workspace_quota(" + workspace + ", true, 1, true, 1)"),
        "");
    EXPECT_EQ(as_server("SELECT FROM upload_outcomes; DELETE FROM upload_outcomes"), "");
    EXPECT_EQ(as_server("DELETE FROM pending_uploads; DELETE FROM upload_requests; UPDATE sweeper_state SET "
                        "last_acked = 1"),
              "");

    for (const auto* forbidden :
         {"INSERT INTO activity_logs (id) VALUES (gen_random_uuid())",
          "UPDATE activity_logs SET summary = ''", "DELETE FROM activity_logs",
          "UPDATE activity_heads SET seq = 1", "UPDATE activity_heads SET waiting_bytes = 0",
          "UPDATE upload_outcomes SET acked_at = now()", "DELETE FROM workspaces", "CREATE TABLE mine ()",
          "DROP TABLE workspaces", "ALTER TABLE workspaces ADD x int", "TRUNCATE pending_uploads"})
        EXPECT_THAT(as_server(forbidden),
                    testing::AnyOf(HasSubstr("permission denied"), HasSubstr("must be owner")))
            << forbidden;
}

// A token that may only read loses that limit with the schema's columns; it must not come back with more.
TEST_F(schema_test, restricted_tokens_do_not_survive_the_way_back)
{
    db_.sql("INSERT INTO workspaces (id) VALUES (" + workspace +
            "); INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix, scope, expires_at) "
            "SELECT " +
            workspace +
            ", sha256(scope::bytea), 'abcdefgh', split_part(scope, ' ', 1), CASE WHEN scope LIKE '% ends' "
            "THEN now() + interval '1 hour' END FROM unnest(ARRAY['full', 'read', 'full ends']) AS scope");
    constexpr std::size_t before_scopes = 10;
    for (auto i = known_.size(); i > before_scopes; --i)
        db_.sql(std::string(known_[i - 1].down));
    for (auto i = before_scopes; i < known_.size(); ++i)
        db_.sql(std::string(known_[i].up));
    EXPECT_EQ(db_.ask("SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NULL"), "1");
    EXPECT_EQ(
        db_.ask("SELECT revoked_at IS NULL FROM workspace_auth_tokens WHERE token_hash = sha256('full')"),
        "t");
}

TEST_F(schema_test, nobody_else_may_publish)
{
    db_.sql(
        "DO $$ BEGIN CREATE ROLE restante_stranger; EXCEPTION WHEN duplicate_object OR unique_violation THEN "
        "NULL; "
        "END $$");
    EXPECT_THAT(refusal("SET ROLE restante_stranger; SELECT seq FROM " + publish_as_before),
                HasSubstr("permission denied for function publish_activity"));
    EXPECT_THAT(refusal("SET ROLE restante_stranger; SELECT seq FROM " + publish_for("1")),
                HasSubstr("permission denied for function publish_counted"));
}

}  // namespace
}  // namespace restante
