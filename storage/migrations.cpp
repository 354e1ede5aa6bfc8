#include "storage/migrations.hpp"

namespace restante {

namespace {

// "Restante" in ASCII: a number that no other program is likely to lock.
const statement lock_schema{"lock_schema", "SELECT pg_advisory_lock(5936183148764264549)"};
const statement unlock_schema{"unlock_schema", "SELECT pg_advisory_unlock(5936183148764264549)"};

const statement has_history{"has_history", "SELECT to_regclass('public.schema_migrations') IS NOT NULL"};
// A history written by release 0.1.0 has no column compatible_from.
const statement read_history{
    "read_history",
    "SELECT number, checksum, (to_jsonb(m) ->> 'compatible_from')::int4 FROM schema_migrations m ORDER BY number"};
const statement add_history{"add_history",
                            "INSERT INTO schema_migrations (number, name, checksum, compatible_from) "
                            "VALUES ($1::int4, $2::text, $3::text, $4::int4)"};
const statement drop_history{"drop_history", "DELETE FROM schema_migrations WHERE number = $1::int4"};

const std::string make_history =
    "CREATE TABLE IF NOT EXISTS schema_migrations (number int PRIMARY KEY, name text NOT NULL, "
    "checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()); "
    "ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS compatible_from int";

const statement count_waiting_files{
    "count_waiting_files",
    "SELECT count(*) FROM pending_uploads WHERE acked_at IS NULL AND expires_at > now()"};
const statement count_activity{"count_activity", "SELECT count(*) FROM activity_logs"};
const statement count_workspaces{"count_workspaces", "SELECT count(*) FROM workspaces"};
const statement count_receipts{"count_receipts", "SELECT count(*) FROM upload_outcomes"};
const statement count_cursors{"count_cursors", "SELECT count(*) FROM inbox_cursors"};
const statement count_tokens{
    "count_tokens",
    "SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NULL"
    "   AND (expires_at IS NULL OR expires_at > now()) AND (scope <> 'full' OR expires_at IS NOT NULL)"};
const statement count_limits{"count_limits",
                             "SELECT count(*) FROM activity_heads"
                             " WHERE max_waiting_bytes IS NOT NULL OR max_waiting_files IS NOT NULL"};

// What nobody wants to lose unasked.
struct counted_loss {
    std::string_view undoing;  // as the down file of its migration says
    const statement& count;
    std::int64_t migration_losses::*member;
};

const counted_loss counted_losses[] = {
    {"DROP TABLE pending_uploads;", count_waiting_files, &migration_losses::files},
    {"DROP TABLE activity_logs;", count_activity, &migration_losses::activity},
    {"DROP TABLE workspaces;", count_workspaces, &migration_losses::workspaces},
    {"DROP TABLE upload_outcomes;", count_receipts, &migration_losses::receipts},
    {"DROP TABLE inbox_cursors;", count_cursors, &migration_losses::cursors},
    {"UPDATE workspace_auth_tokens SET revoked_at = now()", count_tokens, &migration_losses::tokens},
    {"DROP COLUMN max_waiting_bytes", count_limits, &migration_losses::limits},
};

startup_failure failed(const pq::connection& session, const std::string& doing)
{
    return {doing + " failed: " + session.last_message()};
}

awaitable<startup_result<std::vector<applied_migration>>> applied_migrations(pq::connection& session)
{
    std::vector<applied_migration> applied;
    auto known = co_await session.execute(has_history);
    if (!known)
        co_return failed(session, "looking for the schema");
    const auto exists = (*known)[0][0].as<bool>();
    if (!exists || !*exists)
        co_return applied;
    auto rows = co_await session.execute(read_history);
    if (!rows)
        co_return failed(session, "reading schema_migrations");
    for (int i = 0; i < rows->size(); ++i) {
        auto row =
            (*rows)[i].into<applied_migration, std::int32_t, std::string, std::optional<std::int32_t>>();
        if (!row)
            co_return startup_failure{"schema_migrations has columns of another program"};
        applied.push_back(std::move(*row));
    }
    co_return applied;
}

struct migration_plan {
    std::vector<migration> known;
    std::vector<migration_step> steps;  // they point into `known`
};

awaitable<startup_result<migration_plan>> make_plan(pq::connection& session, std::optional<int> target)
{
    auto known = read_migrations(embedded_sql());
    if (!known)
        co_return known.error();
    auto applied = co_await applied_migrations(session);
    if (!applied)
        co_return applied.error();
    auto steps = plan_migration(*known, *applied, target);
    if (!steps)
        co_return steps.error();
    co_return migration_plan{std::move(*known), std::move(*steps)};
}

awaitable<startup_result<void>> run_step(pq::connection& session, const migration_step& step)
{
    const bool up = step.way == direction::up;
    const std::string name(step.what->name);
    auto begun = co_await session.execute_script(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '30s'; " +
        std::string(up ? step.what->up : step.what->down));
    if (!begun)
        co_return failed(session, name);
    const pq::parameters row(static_cast<std::int32_t>(step.what->number), name, step.what->checksum,
                             step.what->compatible_from);
    const pq::parameters number(static_cast<std::int32_t>(step.what->number));
    auto noted = up ? session.execute(add_history, row) : session.execute(drop_history, number);
    auto done = co_await std::move(noted);
    if (!done)
        co_return failed(session, name);
    auto committed = co_await session.execute_script("COMMIT");
    if (!committed)
        co_return failed(session, name);
    co_return startup_result<void>();
}

awaitable<startup_result<migration_losses>> count_losses(pq::connection& session,
                                                         std::span<const migration_step> steps)
{
    migration_losses losses;
    for (const auto& step : steps) {
        for (const auto& loss : counted_losses) {
            if (step.way == direction::up || step.what->down.find(loss.undoing) == std::string_view::npos)
                continue;
            auto rows = co_await session.execute(loss.count);
            if (!rows)
                co_return failed(session, "counting what would be lost");
            const auto counted = (*rows)[0][0].as<std::int64_t>();
            losses.*loss.member = counted ? *counted : 0;
        }
    }
    co_return losses;
}

// Asks whoever wants the migration, if anything would be lost.
awaitable<startup_result<void>> agree_on_losses(pq::connection& session, const migration_request& request,
                                                std::span<const migration_step> steps)
{
    if (!request.object)
        co_return startup_result<void>();
    const auto losses = co_await count_losses(session, steps);
    if (!losses)
        co_return losses.error();
    if (!losses->any())
        co_return startup_result<void>();
    auto objection = request.object(*losses);
    if (objection)
        co_return startup_failure{std::move(*objection)};
    co_return startup_result<void>();
}

awaitable<startup_result<int>> migrate_locked(pq::connection& session, const migration_request& request,
                                              const std::function<void(const migration_step&)>& report)
{
    auto plan = co_await make_plan(session, request.target);
    if (!plan)
        co_return plan.error();
    auto agreed = co_await agree_on_losses(session, request, plan->steps);
    if (!agreed)
        co_return agreed.error();
    if (!request.dry_run && !plan->steps.empty()) {
        auto made = co_await session.execute_script(make_history);
        if (!made)
            co_return failed(session, "making schema_migrations");
    }
    for (const auto& step : plan->steps) {
        report(step);
        if (request.dry_run)
            continue;
        auto done = co_await run_step(session, step);
        if (!done) {
            if (!session.broken())
                co_await session.execute_script("ROLLBACK");
            co_return done.error();
        }
    }
    co_return static_cast<int>(plan->steps.size());
}

}  // namespace

awaitable<startup_result<int>> migrate(pq::connection& session, migration_request request,
                                       std::function<void(const migration_step&)> report)
{
    // Another server may be migrating a large table: waiting for it is not a failure.
    session.io_timeout(std::chrono::minutes(30));
    auto unhurried = co_await session.execute_script("SET statement_timeout = 0; SET lock_timeout = 0");
    if (!unhurried)
        co_return failed(session, "preparing the migration");
    auto locked = co_await session.execute(lock_schema);
    if (!locked)
        co_return failed(session, "waiting for another migration");
    auto done = co_await migrate_locked(session, request, report);
    if (!session.broken())
        co_await session.execute(unlock_schema);
    co_return done;
}

awaitable<startup_result<int>> schema_version(pq::connection& session)
{
    auto applied = co_await applied_migrations(session);
    if (!applied)
        co_return applied.error();
    co_return applied->empty() ? 0 : applied->back().number;
}

int newest_schema_version()
{
    const auto known = read_migrations(embedded_sql());
    return known && !known->empty() ? known->back().number : 0;
}

}  // namespace restante
