#include "storage/workspaces.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

// Held until COMMIT by every registration and removal of this id: a row lock would not do, because at the
// first registration there is no row yet.
const statement lock_id{"workspace_lock_id",
                        "SELECT pg_advisory_xact_lock(hashtextextended('workspace ' || $1::uuid, 0))"};

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
    "            ELSE false END"
    "  FROM (SELECT EXISTS (SELECT FROM workspace_auth_tokens"
    "                        WHERE workspace_id = $1::uuid AND revoked_at IS NULL) AS found) AS live"};

const statement upsert{
    "workspace_upsert",
    "INSERT INTO workspaces AS w (id, delivery_mode, url, name, agent_card, platform_inbound_secret)"
    " VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::jsonb, nullif($6::text, ''))"
    " ON CONFLICT (id) DO UPDATE SET delivery_mode = excluded.delivery_mode,"
    "    url = coalesce(excluded.url, w.url), name = coalesce(excluded.name, w.name),"
    "    agent_card = coalesce(excluded.agent_card, w.agent_card), status = 'online', updated_at = now(),"
    "    platform_inbound_secret = coalesce(w.platform_inbound_secret, excluded.platform_inbound_secret)"
    " RETURNING coalesce(platform_inbound_secret, '')"};

const statement insert_first_token{"workspace_insert_first_token",
                                   "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix)"
                                   " VALUES ($2::uuid, $1::uuid, $3::bytea, $4::text)"};

const statement has_token{
    "workspace_has_token",
    "SELECT EXISTS (SELECT FROM workspace_auth_tokens WHERE id = $2::uuid),"
    "       coalesce((SELECT platform_inbound_secret FROM workspaces WHERE id = $1::uuid), '')"};

const statement find_facts{"workspace_find",
                           "SELECT id, delivery_mode, coalesce(url, '') <> '', "
                           "to_regclass('public.pending_uploads') IS NOT NULL, false"
                           "  FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL"};

const statement find_callback{"workspace_find_callback",
                              "SELECT coalesce(url, ''), platform_inbound_secret"
                              "  FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL"};

const statement set_secret{
    "workspace_set_secret",
    "UPDATE workspaces SET updated_at = now(), platform_inbound_secret ="
    "       CASE WHEN $3::bool THEN $2::text ELSE coalesce(platform_inbound_secret, $2::text) END"
    " WHERE id = $1::uuid AND removed_at IS NULL RETURNING platform_inbound_secret"};

const statement mark_removed{
    "workspace_mark_removed",
    "UPDATE workspaces SET removed_at = now(), updated_at = now(), status = 'removed'"
    " WHERE id = $1::uuid AND removed_at IS NULL"};

const statement revoke_all{"workspace_revoke_tokens",
                           "UPDATE workspace_auth_tokens SET revoked_at = now()"
                           " WHERE workspace_id = $1::uuid AND revoked_at IS NULL"};

const statement list_all{
    "workspace_list",
    "SELECT id, name, delivery_mode, url, status,"
    "       (SELECT count(*) FROM workspace_auth_tokens WHERE workspace_id = w.id AND revoked_at IS NULL),"
    "       created_at, removed_at"
    "  FROM workspaces w ORDER BY created_at, id"};

void queue_upsert(pq::transaction& tx, const registration& what)
{
    std::optional<pq::jsonb> card;
    if (what.agent_card)
        card.emplace(*what.agent_card);
    const pq::parameters with(what.id, to_string(what.mode), what.url, what.name, card, what.inbound_secret);
    tx.queue(upsert, with);
}

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
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();

    const pq::parameters id(what.id);
    tx->queue(lock_id, id);
    tx->queue(look_up, id);
    auto looked = co_await tx->flush();
    if (!looked)
        co_return looked.error();
    const auto state = (*looked)[1][0].as<bool, bool, bool>();
    if (!state)
        co_return state.error();
    const auto [removed, has_live_token, ever_had_token] = *state;
    if (removed)
        co_return RESTANTE_ERROR(errc::workspace_removed);
    if (ever_had_token && who == caller::unproven)
        co_return RESTANTE_ERROR(errc::missing_token);

    const auto writing = tx->queued();
    queue_upsert(*tx, what);
    if (!has_live_token)
        queue_first_token(*tx, what.id, fresh);
    auto done = co_await tx->commit();
    if (!done && done.error() == errc::commit_outcome_unknown && !has_live_token)
        co_return co_await was_stored(what.id, fresh.id);
    if (!done)
        co_return done.error();
    auto secret = (*done)[writing][0][0].as<std::string>();
    if (!secret)
        co_return secret.error();
    co_return registered{.token = has_live_token ? first_token::not_needed : first_token::stored,
                         .inbound_secret = std::move(*secret)};
}

// After a COMMIT without a reply. Left unresolved, a token that is stored but was never returned would lock
// its workspace out for good. The lock makes us wait for the end of the transaction in question.
awaitable<result<registered>> workspace_store::was_stored(uuid workspace, uuid token)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters id(workspace), wanted(workspace, token);
    tx->queue(lock_id, id);
    const auto asking = tx->queued();
    tx->queue(has_token, wanted);
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    const auto found = (*done)[asking][0].as<bool, std::string>();
    if (!found || !std::get<bool>(*found))
        co_return RESTANTE_ERROR(errc::database_unavailable);
    co_return registered{.token = first_token::stored, .inbound_secret = std::get<std::string>(*found)};
}

awaitable<result<workspace_callback>> workspace_store::callback_of(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(find_callback, with);
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
    auto rows = co_await db_.execute(set_secret, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return (*rows)[0][0].as<std::string>();
}

awaitable<result<workspace_facts>> workspace_store::find(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(find_facts, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return read_workspace_facts((*rows)[0], 0);
}

awaitable<result<void>> workspace_store::remove(uuid workspace)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters id(workspace);
    tx->queue(lock_id, id);
    const auto marking = tx->queued();
    tx->queue(mark_removed, id);
    tx->queue(revoke_all, id);
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
                             std::optional<timestamp>>();
        if (!one)
            co_return one.error();
        all.push_back(std::move(*one));
    }
    co_return all;
}

}  // namespace restante
