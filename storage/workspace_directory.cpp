#include "storage/workspace_directory.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

// A card may hold a megabyte under either key, and a page of the list has a hundred workspaces.
const std::string shown_name = "coalesce(w.name, left(w.agent_card->>'name', 255), w.id::text)";
const std::string shown_role = "coalesce(w.role, left(w.agent_card->>'role', 255))";

// A workspace without a row of presence was added by a server that knows nothing of it.
std::string profiles(const std::string& card, const std::string& which)
{
    return "SELECT w.id, " + shown_name + ", " + shown_role +
           ", coalesce(w.delivery_mode, ''), coalesce(w.url, ''), " + card +
           ",      CASE WHEN w.removed_at IS NULL THEN coalesce(p.status, w.status) ELSE 'removed' END,"
           "       coalesce(p.error_rate, 0), coalesce(p.sample_error, ''), coalesce(p.active_tasks, 0),"
           "       coalesce(p.uptime_seconds, 0), coalesce(p.current_task, ''), coalesce(p.runtime_state, ''),"
           "       p.last_seen_at, w.created_at, w.removed_at"
           "  FROM workspaces w LEFT JOIN workspace_presence p ON p.workspace_id = w.id WHERE " +
           which;
}

const std::string find_text = profiles("w.agent_card::text", "w.id = $1::uuid");
const statement find_profile{"directory_find", find_text.c_str()};

const std::string list_text = profiles(
    "CASE WHEN octet_length(w.agent_card::text) <= $6::int4 THEN w.agent_card::text END",
    "w.removed_at IS NULL AND (w.created_at, w.id) > ($1::timestamptz, $2::uuid)"
    "   AND ($3::uuid IS NULL OR w.id <> $3::uuid)"
    "   AND ($4::text = '' OR strpos(lower(" +
        shown_name +
        "), lower($4::text)) > 0"
        "        OR strpos(lower(" +
        shown_role +
        "), lower($4::text)) > 0)"
    " ORDER BY w.created_at, w.id LIMIT $5::int4");
const statement list_profiles{"directory_page", list_text.c_str()};

// Two that want one name come one after the other.
const statement lock_name{"directory_lock_name",
                          "SELECT pg_advisory_xact_lock(hashtextextended('workspace name ' || $1::text, 0))"};

// Of one more name than are taken, one is free.
const statement insert_workspace{
    "directory_insert",
    "WITH taken AS (SELECT name FROM workspaces WHERE removed_at IS NULL AND starts_with(name, $2::text)),"
    " wanted AS (SELECT n, CASE n WHEN 1 THEN $2::text ELSE $2::text || ' (' || n || ')' END AS name"
    "              FROM generate_series(1, (SELECT count(*) FROM taken) + 1) AS n)"
    " INSERT INTO workspaces (id, name, role, delivery_mode, url, status, platform_inbound_secret)"
    " SELECT $1::uuid, name, $3::text, $4::text, $5::text, 'awaiting_agent', $6::text FROM wanted"
    "  WHERE name NOT IN (SELECT name FROM taken) ORDER BY n LIMIT 1"
    " RETURNING name"};

const statement insert_token{"directory_insert_token",
                             "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix)"
                             " VALUES ($2::uuid, $1::uuid, $3::bytea, $4::text)"};

const statement insert_presence{
    "directory_insert_presence",
    "INSERT INTO workspace_presence (workspace_id, status) VALUES ($1::uuid, 'awaiting_agent')"};

const statement update_profile{
    "directory_update",
    "UPDATE workspaces SET updated_at = now(), name = coalesce($2::text, name),"
    "       role = CASE WHEN $3::text IS NULL THEN role ELSE nullif($3::text, '') END"
    " WHERE id = $1::uuid AND removed_at IS NULL",
    promised};

const statement fill_empty_card{"directory_fill_card",
                                "UPDATE workspaces SET agent_card = $2::jsonb"
                                " WHERE id = $1::uuid AND removed_at IS NULL AND agent_card IS NULL"};

result<std::vector<workspace_profile>> read_profiles(const pq::result_set& rows)
{
    using text = std::string;
    using optional_text = std::optional<std::string>;
    using moment = std::optional<timestamp>;
    return rows.all<workspace_profile, uuid, text, optional_text, text, text, optional_text, text, double,
                    text, std::int64_t, std::int64_t, text, text, moment, timestamp, moment>();
}

}  // namespace

awaitable<result<std::optional<workspace_profile>>> workspace_directory::find(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(find_profile, with, workspace);
    if (!rows)
        co_return rows.error();
    auto found = read_profiles(*rows);
    if (!found)
        co_return found.error();
    if (found->empty())
        co_return std::optional<workspace_profile>();
    co_return std::optional(std::move(found->front()));
}

awaitable<result<std::vector<workspace_profile>>> workspace_directory::page(const directory_query& which)
{
    const pq::parameters with(which.after_time, which.after_id, which.except, which.search,
                              std::int32_t{page_size}, std::int32_t{max_listed_card});
    auto rows = co_await db_.execute(list_profiles, with);
    if (!rows)
        co_return rows.error();
    co_return read_profiles(*rows);
}

awaitable<result<std::string>> workspace_directory::create(const new_workspace& what, const new_token& token)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters name(what.name), id(what.id);
    const pq::parameters row(what.id, what.name, what.role, to_string(what.mode), what.url,
                             what.inbound_secret);
    const pq::blob hash(reinterpret_cast<const char*>(token.hash.data()), token.hash.size());
    const pq::parameters first_token(what.id, token.id, hash, token.prefix);
    tx->queue(lock_name, name);
    const auto inserting = tx->queued();
    tx->queue(insert_workspace, row);
    tx->queue(insert_token, first_token);
    tx->queue(insert_presence, id);
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return (*done)[inserting][0][0].as<std::string>();
}

awaitable<result<void>> workspace_directory::change(uuid workspace, const profile_change& what)
{
    const pq::parameters with(workspace, what.name, what.role);
    auto done = co_await db_.execute(update_profile, with, workspace);
    if (!done)
        co_return done.error();
    if (done->affected() == 0)
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return result<void>();
}

awaitable<result<void>> workspace_directory::fill_card(uuid workspace, const std::string& card)
{
    const pq::parameters with(workspace, pq::jsonb(card));
    auto done = co_await db_.execute(fill_empty_card, with, workspace);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

}  // namespace restante
