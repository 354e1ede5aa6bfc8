#include "storage/presence.hpp"

#include <cmath>

namespace restante {

namespace {

// Rows are locked in the order of their ids, so that two shards never wait for each other in a circle. A
// workspace without a row was added by a server that knows nothing of presence and takes everybody for
// online; its row is made here.
//
// Online becomes degraded at an error rate of 0.5 or when the agent is wedged, and degraded becomes online
// again only below 0.1: between them the status stays what it was, so that it does not flicker.
//
// Several shards write one agent. A report that one of them held back must not undo what the agent has told
// another meanwhile; the seconds are what two writes may pass each other by.
const statement record_signs{
    "presence_record",
    "WITH given AS ("
    "  SELECT id, age, millionths / 1e6::float8 AS error_rate, sample_error, active_tasks, uptime_seconds,"
    "         current_task, runtime_state FROM unnest($1::uuid[], $2::int8[], $3::int8[], $4::text[], $5::int8[], $6::int8[],"
    "                       $7::text[], $8::text[])"
    "    AS g (id, age, millionths, sample_error, active_tasks, uptime_seconds, current_task, runtime_state)),"
    " old AS ("
    "  SELECT p.* FROM workspace_presence p WHERE p.workspace_id = ANY ($1::uuid[]) AND p.status <> 'removed'"
    "   ORDER BY p.workspace_id FOR NO KEY UPDATE),"
    " reports AS ("
    "  SELECT g.* FROM given g JOIN old ON old.workspace_id = g.id"
    "   WHERE old.last_seen_at IS NULL"
    "      OR now() - g.age * interval '1 millisecond' > old.last_seen_at - interval '5 seconds'),"
    " merged AS ("
    "  SELECT old.workspace_id AS id, old.status AS before, old.current_task AS task_before,"
    "         now() - g.age * interval '1 millisecond' AS seen,"
    "         coalesce(r.error_rate, old.error_rate) AS error_rate,"
    "         coalesce(r.sample_error, old.sample_error) AS sample_error,"
    "         coalesce(r.active_tasks, old.active_tasks) AS active_tasks,"
    "         coalesce(g.uptime_seconds, old.uptime_seconds) AS uptime_seconds,"
    "         coalesce(r.current_task, old.current_task) AS current_task,"
    "         coalesce(r.runtime_state, old.runtime_state) AS runtime_state"
    "    FROM old JOIN given g ON g.id = old.workspace_id LEFT JOIN reports r ON r.id = g.id),"
    " judged AS ("
    "  SELECT m.*, CASE WHEN error_rate >= 0.5 OR runtime_state = 'wedged' THEN 'degraded'"
    "                   WHEN before = 'degraded' AND (error_rate >= 0.1 OR runtime_state <> '') THEN 'degraded'"
    "                   ELSE 'online' END AS after"
    "    FROM merged m),"
    " written AS ("
    "  UPDATE workspace_presence p SET"
    "     last_seen_at = greatest(p.last_seen_at, j.seen), status = j.after,"
    "     changed_at = CASE WHEN p.status = j.after THEN p.changed_at ELSE now() END,"
    "     error_rate = j.error_rate, sample_error = j.sample_error, active_tasks = j.active_tasks,"
    "     uptime_seconds = j.uptime_seconds, current_task = j.current_task, runtime_state = j.runtime_state"
    "    FROM judged j WHERE p.workspace_id = j.id),"
    " made AS ("
    "  INSERT INTO workspace_presence AS p (workspace_id, status, last_seen_at, error_rate, sample_error,"
    "                                       active_tasks, uptime_seconds, current_task, runtime_state)"
    "  SELECT g.id, CASE WHEN g.error_rate >= 0.5 OR g.runtime_state = 'wedged' THEN 'degraded' ELSE 'online' END,"
    "         now() - g.age * interval '1 millisecond', coalesce(g.error_rate, 0), coalesce(g.sample_error, ''),"
    "         coalesce(g.active_tasks, 0), coalesce(g.uptime_seconds, 0), coalesce(g.current_task, ''),"
    "         coalesce(g.runtime_state, '')"
    "    FROM given g JOIN workspaces w ON w.id = g.id AND w.removed_at IS NULL"
    "   WHERE NOT EXISTS (SELECT FROM workspace_presence p WHERE p.workspace_id = g.id)"
    "   ORDER BY g.id ON CONFLICT DO NOTHING"
    "  RETURNING p.*),"
    " changed AS ("
    "  SELECT id, before, after, current_task <> task_before AS task_changed, error_rate, sample_error,"
    "         current_task, active_tasks FROM judged WHERE before <> after OR current_task <> task_before"
    "  UNION ALL"
    "  SELECT m.workspace_id, w.status, m.status, m.current_task <> '', m.error_rate, m.sample_error,"
    "         m.current_task, m.active_tasks"
    "    FROM made m JOIN workspaces w ON w.id = m.workspace_id"
    "   WHERE m.status <> w.status OR m.current_task <> '')"
    " SELECT c.id, coalesce(w.name, ''), coalesce(w.delivery_mode, ''), c.before, c.after, c.task_changed,"
    "        c.error_rate, c.sample_error, c.current_task, c.active_tasks"
    "   FROM changed c JOIN workspaces w ON w.id = c.id"};

// Rows that another server is marking, or that are being stamped, are skipped: the one has them, and the
// others live. Those of a workspace that was removed meanwhile, or by an older server, are put right without
// a word.
const statement mark_offline{
    "presence_mark_silent",
    "WITH silent AS ("
    "  SELECT p.workspace_id FROM workspace_presence p"
    "   WHERE p.status IN ('online', 'degraded')"
    "     AND p.last_seen_at < now() - $1::int8 * interval '1 millisecond'"
    "   LIMIT $2::int4 FOR NO KEY UPDATE SKIP LOCKED)"
    " UPDATE workspace_presence p"
    "    SET status = CASE WHEN w.removed_at IS NULL THEN 'offline' ELSE 'removed' END, changed_at = now()"
    "   FROM silent s JOIN workspaces w ON w.id = s.workspace_id"
    "  WHERE p.workspace_id = s.workspace_id"
    " RETURNING p.workspace_id, p.status = 'offline'"};

const statement count_all{"presence_counts",
                          "SELECT count(*) FILTER (WHERE status = 'awaiting_agent'),"
                          "       count(*) FILTER (WHERE status = 'online'),"
                          "       count(*) FILTER (WHERE status = 'degraded'),"
                          "       count(*) FILTER (WHERE status = 'offline')"
                          "  FROM workspace_presence"};

// The columns of the signs, each as an array.
struct sign_columns {
    explicit sign_columns(std::span<const presence_sign> signs)
    {
        for (const auto& each : signs) {
            ids.push_back(each.workspace);
            ages.push_back(each.age.count());
            const auto* said = each.report ? &*each.report : nullptr;
            rates.push_back(said ? std::optional(std::llround(said->error_rate * 1e6)) : std::nullopt);
            errors.push_back(text_of(said, &agent_report::sample_error));
            tasks.push_back(said ? std::optional(said->active_tasks) : std::nullopt);
            uptimes.push_back(each.uptime_seconds);
            current.push_back(text_of(said, &agent_report::current_task));
            states.push_back(text_of(said, &agent_report::runtime_state));
        }
    }

    using texts = std::vector<std::optional<std::string_view>>;
    using numbers = std::vector<std::optional<std::int64_t>>;

    static std::optional<std::string_view> text_of(const agent_report* said,
                                                   std::string agent_report::* which)
    {
        return said ? std::optional<std::string_view>(said->*which) : std::nullopt;
    }

    std::vector<uuid> ids;
    std::vector<std::int64_t> ages;
    numbers rates, tasks, uptimes;
    texts errors, current, states;
};

template <class T>
std::span<const T> view(const std::vector<T>& of)
{
    return of;
}

}  // namespace

awaitable<result<std::vector<presence_change>>> presence_store::record(std::span<const presence_sign> signs)
{
    const sign_columns all(signs);
    const pq::parameters with(view(all.ids), view(all.ages), view(all.rates), view(all.errors),
                              view(all.tasks), view(all.uptimes), view(all.current), view(all.states));
    auto rows = co_await db_.execute(record_signs, with);
    if (!rows)
        co_return rows.error();
    using text = std::string;
    co_return rows
        ->all<presence_change, uuid, text, text, text, text, bool, double, text, text, std::int64_t>();
}

awaitable<result<std::vector<uuid>>> presence_store::mark_silent(std::chrono::milliseconds timeout)
{
    const pq::parameters with(static_cast<std::int64_t>(timeout.count()), std::int32_t{batch_size});
    auto rows = co_await db_.execute(mark_offline, with);
    if (!rows)
        co_return rows.error();
    std::vector<uuid> marked;
    for (int i = 0; i < rows->size(); ++i) {
        const auto row = (*rows)[i].as<uuid, bool>();
        if (!row)
            co_return row.error();
        if (std::get<bool>(*row))
            marked.push_back(std::get<uuid>(*row));
    }
    co_return marked;
}

awaitable<result<presence_counts>> presence_store::counts()
{
    auto rows = co_await db_.execute(count_all);
    if (!rows)
        co_return rows.error();
    using number = std::int64_t;
    co_return (*rows)[0].into<presence_counts, number, number, number, number>();
}

}  // namespace restante
