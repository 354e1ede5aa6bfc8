#include "storage/workspaces.hpp"

#include "storage/pq/transaction.hpp"

#include <algorithm>

namespace restante {

namespace {

// Clients are promised an answer within 10 s. What is left after a lost COMMIT is for asking about it.
constexpr auto commit_limit = std::chrono::seconds(6);
constexpr auto answer_limit = std::chrono::seconds(9);
constexpr auto shortest_wait = std::chrono::milliseconds(200);
constexpr auto between_attempts = std::chrono::milliseconds(100);

// Held until COMMIT by every registration and removal of this id: a row lock would not do, because at the
// first registration there is no row yet. It is waited for a second, and so are the rows after it: others
// want the connection too.
const statement lock_id{"workspace_lock_id",
                        "SELECT set_config('lock_timeout', '1s', true),"
                        "       pg_advisory_xact_lock(hashtextextended('workspace ' || $1::uuid, 0))"};

// A statement of its own after the lock, so that it sees what the one before us committed. Revoked tokens,
// which no index finds by their workspace, are searched only when they decide: a workspace that is not there
// never had one.
const statement look_up{
    "workspace_look_up",
    "SELECT EXISTS (SELECT FROM workspaces WHERE id = $1::uuid AND removed_at IS NOT NULL),"
    "       live.found,"
    "       CASE WHEN live.found THEN true"
    "            WHEN EXISTS (SELECT FROM workspaces WHERE id = $1::uuid)"
    "            THEN EXISTS (SELECT FROM workspace_auth_tokens WHERE workspace_id = $1::uuid)"
    "            ELSE false END,"
    "       (SELECT coalesce(delivery_mode, '') FROM workspaces WHERE id = $1::uuid)"
    "  FROM (SELECT EXISTS (SELECT FROM workspace_auth_tokens"
    "                        WHERE workspace_id = $1::uuid AND revoked_at IS NULL AND scope = 'full'"
    "                          AND (expires_at IS NULL OR expires_at > now())) AS found) AS live"};

// A workspace is named by its id until it gets a name; the name on its card is one.
const statement upsert{
    "workspace_upsert",
    "INSERT INTO workspaces AS w (id, delivery_mode, url, name, agent_card, platform_inbound_secret)"
    " VALUES ($1::uuid, $2::text, $3::text, coalesce($4::text, $7::text, $1::uuid::text), $5::jsonb,"
    "         nullif($6::text, ''))"
    " ON CONFLICT (id) DO UPDATE SET delivery_mode ="
    "       CASE WHEN $8::bool THEN coalesce(nullif(w.delivery_mode, ''), excluded.delivery_mode)"
    "            ELSE excluded.delivery_mode END,"
    "    url = coalesce(excluded.url, w.url),"
    "    name = CASE WHEN $4::text IS NULL AND w.name <> w.id::text THEN w.name ELSE excluded.name END,"
    "    agent_card = coalesce(excluded.agent_card, w.agent_card), status = 'online', updated_at = now(),"
    "    platform_inbound_secret = coalesce(w.platform_inbound_secret, excluded.platform_inbound_secret)"
    " RETURNING coalesce(platform_inbound_secret, ''), coalesce(delivery_mode, ''), name"};

// What was reported before belongs to a former run of the agent, whose task has ended with it.
const statement agent_is_there{
    "workspace_agent_is_there",
    "WITH old AS (SELECT FROM workspace_presence WHERE workspace_id = $1::uuid AND current_task <> '')"
    " INSERT INTO workspace_presence AS p (workspace_id, status, last_seen_at) VALUES ($1::uuid, 'online', now())"
    " ON CONFLICT (workspace_id) DO UPDATE SET status = 'online', last_seen_at = now(),"
    "    changed_at = CASE WHEN p.status = 'online' THEN p.changed_at ELSE now() END, error_rate = 0,"
    "    sample_error = '', active_tasks = 0, uptime_seconds = 0, current_task = '', runtime_state = ''"
    " RETURNING EXISTS (SELECT FROM old)"};

const statement agent_is_awaited{
    "workspace_agent_is_awaited",
    "INSERT INTO workspace_presence (workspace_id, status) VALUES ($1::uuid, 'awaiting_agent')"
    " ON CONFLICT DO NOTHING"};

const statement insert_first_token{"workspace_insert_first_token",
                                   "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix)"
                                   " VALUES ($2::uuid, $1::uuid, $3::bytea, $4::text)"};

// Locks the row, so that its commit waits for a synchronous standby: one that only reads waits for none.
const statement has_token{
    "workspace_has_token",
    "SELECT EXISTS (SELECT FROM workspace_auth_tokens WHERE id = $2::uuid),"
    "       coalesce(w.platform_inbound_secret, ''), coalesce(w.delivery_mode, ''), coalesce(w.name, '')"
    "  FROM workspaces w WHERE w.id = $1::uuid FOR NO KEY UPDATE OF w"};

const statement find_facts{"workspace_find",
                           "SELECT id, delivery_mode, coalesce(url, '') <> '', "
                           "to_regclass('public.pending_uploads') IS NOT NULL, false"
                           "  FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL"};

// Whether it has ever had a token is asked only for callers who show none.
const statement find_agent{
    "workspace_find_agent",
    "SELECT w.removed_at IS NOT NULL, w.platform_inbound_secret, w.agent_card IS NOT NULL,"
    "       coalesce(w.delivery_mode, ''),"
    "       CASE WHEN $2::bool THEN false"
    "            ELSE EXISTS (SELECT FROM workspace_auth_tokens t WHERE t.workspace_id = w.id) END"
    "  FROM workspaces w WHERE w.id = $1::uuid"};

const statement find_callback{"workspace_find_callback",
                              "SELECT coalesce(url, ''), platform_inbound_secret"
                              "  FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL"};

const statement set_secret{
    "workspace_set_secret",
    "UPDATE workspaces SET updated_at = now(), platform_inbound_secret ="
    "       CASE WHEN $3::bool THEN $2::text ELSE coalesce(platform_inbound_secret, $2::text) END"
    " WHERE id = $1::uuid AND removed_at IS NULL RETURNING platform_inbound_secret",
    promised};

const statement mark_removed{
    "workspace_mark_removed",
    "UPDATE workspaces SET removed_at = now(), updated_at = now(), status = 'removed'"
    " WHERE id = $1::uuid AND removed_at IS NULL"};

const statement revoke_all{"workspace_revoke_tokens",
                           "UPDATE workspace_auth_tokens SET revoked_at = now()"
                           " WHERE workspace_id = $1::uuid AND revoked_at IS NULL"};

const statement mark_presence_removed{
    "workspace_mark_presence_removed",
    "UPDATE workspace_presence SET status = 'removed', changed_at = now() WHERE workspace_id = $1::uuid"};

const statement list_all{
    "workspace_list",
    "SELECT w.id, w.name, w.delivery_mode, w.url,"
    "       CASE WHEN w.removed_at IS NULL THEN coalesce(p.status, w.status) ELSE 'removed' END,"
    "       (SELECT count(*) FROM workspace_auth_tokens WHERE workspace_id = w.id AND revoked_at IS NULL"
    "           AND scope <> 'grant' AND (expires_at IS NULL OR expires_at > now())),"
    "       w.created_at, w.removed_at, p.last_seen_at"
    "  FROM workspaces w LEFT JOIN workspace_presence p ON p.workspace_id = w.id"
    " ORDER BY w.created_at, w.id"};

void queue_upsert(pq::transaction& tx, const registration& what)
{
    std::optional<pq::jsonb> card;
    if (what.agent_card)
        card.emplace(*what.agent_card);
    const pq::parameters with(what.id, to_string(what.mode), what.url, what.name, card, what.inbound_secret,
                              what.card_name, what.mode_is_guess);
    tx.queue(upsert, with);
    const pq::parameters id(what.id);
    tx.queue(what.by == registered_by::agent ? agent_is_there : agent_is_awaited, id);
}

result<registered> read_registered(const pq::row& row, int first_column, first_token token)
{
    auto secret = row[first_column].as<std::string>();
    const auto mode = row[first_column + 1].as<std::string>();
    auto name = row[first_column + 2].as<std::string>();
    if (!secret || !mode || !name)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return registered{.token = token,
                      .inbound_secret = std::move(*secret),
                      .mode = parse_delivery_mode(*mode).value_or(delivery_mode::none),
                      .name = std::move(*name)};
}

uuid owner_of(const uuid& workspace, caller who)
{
    return who == caller::unproven ? pq::strangers : workspace;
}

// While it lives, no single wait for PostgreSQL lasts beyond the given time.
class wait_limit {
public:
    wait_limit(pq::connection& session, std::chrono::steady_clock::time_point until)
        : session_(session), usual_(session.options().io_timeout), until_(until)
    {
        renew();
    }
    wait_limit(const wait_limit&) = delete;
    wait_limit& operator=(const wait_limit&) = delete;
    ~wait_limit() { session_.io_timeout(usual_); }

    void renew()
    {
        using std::chrono::milliseconds;
        const auto left = std::chrono::duration_cast<milliseconds>(until_ - std::chrono::steady_clock::now());
        session_.io_timeout(std::max<milliseconds>(shortest_wait, std::min(left, usual_)));
    }

private:
    pq::connection& session_;
    std::chrono::milliseconds usual_;
    std::chrono::steady_clock::time_point until_;
};

void queue_first_token(pq::transaction& tx, const uuid& workspace, const new_token& token)
{
    const pq::blob hash(reinterpret_cast<const char*>(token.hash.data()), token.hash.size());
    const pq::parameters with(workspace, token.id, hash, token.prefix);
    tx.queue(insert_first_token, with);
}

}  // namespace

awaitable<result<registered>> workspace_store::register_workspace(const registration& what,
                                                                  const new_token& fresh, caller who)
{
    const auto begun = clock::now();
    // They would wait for each other in the database, each with a connection.
    auto& turns = who == caller::unproven ? strangers_turns_ : turns_;
    const auto turn = co_await turns.take(what.id);
    if (!turn)
        co_return turn.error();
    bool mints = false;
    auto done = co_await try_register(what, fresh, who, begun + commit_limit, mints);
    if (!done && done.error() == errc::commit_outcome_unknown && mints)
        co_return co_await settle(what.id, fresh.id, owner_of(what.id, who), begun + answer_limit);
    co_return done;
}

awaitable<result<registered>> workspace_store::try_register(const registration& what, const new_token& fresh,
                                                            caller who, clock::time_point give_up_at,
                                                            bool& mints)
{
    auto tx = co_await db_.begin(pq::lane::small, owner_of(what.id, who));
    if (!tx)
        co_return tx.error();
    wait_limit limit(tx->session(), give_up_at);

    const pq::parameters id(what.id);
    tx->queue(lock_id, id);
    tx->queue(look_up, id);
    auto looked = co_await tx->flush();
    if (!looked)
        co_return looked.error();
    const auto state = (*looked)[1][0].as<bool, bool, bool, std::optional<std::string>>();
    if (!state)
        co_return state.error();
    const auto& [removed, has_live_token, ever_had_token, stored_mode] = *state;
    if (removed)
        co_return RESTANTE_ERROR(errc::workspace_removed);
    if (ever_had_token && who == caller::unproven)
        co_return RESTANTE_ERROR(errc::missing_token);
    if (!has_live_token && who == caller::with_token)
        co_return RESTANTE_ERROR(errc::invalid_token);
    // Nobody has checked the url of one that was taken for a workspace that polls.
    const bool unchecked = what.mode_is_guess && what.mode == delivery_mode::poll && what.url;
    if (unchecked && stored_mode == "push")
        co_return RESTANTE_ERROR(errc::callback_url_not_allowed);

    const auto writing = tx->queued();
    queue_upsert(*tx, what);
    mints = !has_live_token;
    if (mints)
        queue_first_token(*tx, what.id, fresh);
    limit.renew();
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    const auto token = mints ? first_token::stored : first_token::not_needed;
    auto stored = read_registered((*done)[writing][0], 0, token);
    if (const auto& presence = (*done)[writing + 1]; stored && !presence.empty()) {
        const auto ended_task = presence[0][0].as<bool>();
        stored->ended_task = ended_task && *ended_task;
    }
    co_return stored;
}

// After a COMMIT without a reply. Left unresolved, a token that is stored but was never returned would lock
// its workspace out until the admin mints another.
awaitable<result<registered>> workspace_store::settle(uuid workspace, uuid token, uuid owner,
                                                      clock::time_point give_up_at)
{
    steady_timer pause(co_await asio::this_coro::executor);
    do {
        auto outcome = co_await was_stored(workspace, token, owner, give_up_at);
        if (outcome || outcome.error() != errc::commit_outcome_unknown)
            co_return outcome;
        pause.expires_after(between_attempts);
        co_await pause.async_wait(use_tuple);
    } while (clock::now() < give_up_at);
    co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
}

// The lock makes us wait for the end of the transaction in question. Errors: commit_outcome_unknown (nobody
// could say), database_unavailable (it did not commit and never will).
awaitable<result<registered>> workspace_store::was_stored(uuid workspace, uuid token, uuid owner,
                                                          clock::time_point give_up_at)
{
    auto tx = co_await db_.begin(pq::lane::small, owner);
    if (!tx)
        co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
    const wait_limit limit(tx->session(), give_up_at);
    const pq::parameters id(workspace), wanted(workspace, token);
    tx->queue(lock_id, id);
    const auto asking = tx->queued();
    tx->queue(has_token, wanted);
    auto done = co_await tx->commit();
    if (!done)
        co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
    const auto& rows = (*done)[asking];
    const auto found = rows.empty() ? result<bool>(false) : rows[0][0].as<bool>();
    if (!found || !*found)
        co_return RESTANTE_ERROR(errc::database_unavailable);
    co_return read_registered(rows[0], 1, first_token::stored);
}

awaitable<result<agent_facts>> workspace_store::agent_of(uuid workspace, caller who)
{
    const pq::parameters with(workspace, who != caller::unproven);
    auto rows = co_await db_.execute(find_agent, with, owner_of(workspace, who));
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    auto found = (*rows)[0].as<bool, std::optional<std::string>, bool, std::string, bool>();
    if (!found)
        co_return found.error();
    auto& [removed, secret, has_card, mode, has_tokens] = *found;
    if (removed)
        co_return RESTANTE_ERROR(errc::workspace_removed);
    if (has_tokens && who == caller::unproven)
        co_return RESTANTE_ERROR(errc::missing_token);
    co_return agent_facts{.inbound_secret = std::move(secret),
                          .has_card = has_card,
                          .mode = parse_delivery_mode(mode).value_or(delivery_mode::none)};
}

awaitable<result<workspace_callback>> workspace_store::callback_of(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(find_callback, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return (*rows)[0].into<workspace_callback, std::string, std::optional<std::string>>();
}

awaitable<result<std::string>> workspace_store::set_inbound_secret(uuid workspace, std::string fresh,
                                                                   inbound_secret old)
{
    const pq::parameters with(workspace, fresh, old == inbound_secret::rotate);
    auto rows = co_await db_.execute(set_secret, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return (*rows)[0][0].as<std::string>();
}

awaitable<result<workspace_facts>> workspace_store::find(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(find_facts, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return read_workspace_facts((*rows)[0], 0);
}

awaitable<result<void>> workspace_store::remove(uuid workspace)
{
    auto tx = co_await db_.begin(pq::lane::small, workspace);
    if (!tx)
        co_return tx.error();
    const pq::parameters id(workspace);
    tx->queue(lock_id, id);
    const auto marking = tx->queued();
    tx->queue(mark_removed, id);
    tx->queue(revoke_all, id);
    tx->queue(mark_presence_removed, id);
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    if ((*done)[marking].affected() == 0)
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return result<void>();
}

awaitable<result<std::vector<workspace_info>>> workspace_store::list()
{
    auto rows = co_await db_.execute(list_all);
    if (!rows)
        co_return rows.error();

    using text = std::optional<std::string>;
    std::vector<workspace_info> all;
    for (int i = 0; i < rows->size(); ++i) {
        auto one = (*rows)[i]
                       .into<workspace_info, uuid, text, text, text, std::string, std::int64_t, timestamp,
                             std::optional<timestamp>, std::optional<timestamp>>();
        if (!one)
            co_return one.error();
        all.push_back(std::move(*one));
    }
    co_return all;
}

}  // namespace restante
