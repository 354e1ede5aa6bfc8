// How tokens and upload grants are made.
#include "storage/pq/transaction.hpp"
#include "storage/token_rows.hpp"
#include "storage/tokens.hpp"

namespace restante {

namespace {

// Of one workspace, ended ones that cannot be forgotten yet included.
constexpr std::int64_t max_rows = 2 * token_store::max_live;

// Whoever mints for the same workspace waits here, so that nobody counts before the other has inserted.
const statement lock_owner{
    "token_lock_owner",
    "SELECT FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL FOR NO KEY UPDATE"};

// Nobody lives on in a token that was minted with one that has ended. It cannot be revoked until COMMIT.
const statement lock_maker{"token_lock_maker",
                           "SELECT FROM workspace_auth_tokens WHERE id = $1::uuid AND revoked_at IS NULL"
                           "   AND (expires_at IS NULL OR expires_at > now()) FOR SHARE"};

// A revoked token must not be forgotten while a request that came with it is on its way: the transaction that
// stores the request would not find out. A grant that is gone is an ended one.
const statement forget_ended{
    "token_forget_ended",
    "DELETE FROM workspace_auth_tokens WHERE id IN ("
    "  SELECT id FROM workspace_auth_tokens"
    "   WHERE workspace_id = $1::uuid AND (scope = 'grant') = $2::bool"
    "     AND least(revoked_at, expires_at) <= now() - CASE WHEN $2::bool THEN interval '0' ELSE interval '1 day' END"
    "   ORDER BY created_at DESC OFFSET $3::int8)"};

const statement insert_token{
    "token_insert",
    "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix, scope, name, expires_at,"
    "       created_by, max_requests, max_files, max_bytes, types)"
    " SELECT $2::uuid, w.id, $3::bytea, $4::text, $5::text, $6::text, now() + $7::int8 * interval '1 second',"
    "        CASE WHEN $5::text = 'grant' THEN"
    "          coalesce((SELECT m.prefix FROM workspace_auth_tokens m WHERE m.id = $14::uuid), $8::text) END,"
    "        $9::int8, $10::int8, $11::int8, $12::text[]"
    "   FROM workspaces w WHERE w.id = $1::uuid AND w.removed_at IS NULL"
    "    AND ($14::uuid IS NULL OR EXISTS (SELECT FROM workspace_auth_tokens m WHERE m.id = $14::uuid"
    "            AND m.revoked_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > now())))"
    "    AND (SELECT count(*) FROM workspace_auth_tokens t WHERE t.workspace_id = $1::uuid"
    "            AND (t.scope = 'grant') = ($5::text = 'grant')"
    "            AND coalesce(least(t.revoked_at, t.expires_at) > now(), true)) < $13::int8"
    "    AND (SELECT count(*) FROM workspace_auth_tokens t WHERE t.workspace_id = $1::uuid"
    "            AND (t.scope = 'grant') = ($5::text = 'grant')) < $15::int8"
    " RETURNING id, prefix, scope, name, created_at, last_used_at, expires_at, revoked_at, coalesce(created_by, ''),"
    "           max_requests, max_files, max_bytes, used_requests, used_files, used_bytes, types"};

pq::blob as_blob(const digest32& hash)
{
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

bool is_restricted(const new_token& token)
{
    return token.scope != token_scope::full || token.lifetime;
}

// Maker, limits and types: five parameters, NULL for a token that is no grant.
void add_terms(pq::parameters& with, const new_grant* grant)
{
    if (!grant) {
        for (int i = 0; i < 5; ++i)
            with.add(std::nullopt);
        return;
    }
    const auto& [limit, used, patterns] = grant->terms;
    with.add(grant->made_by);
    with.add(limit.requests);
    with.add(limit.files);
    with.add(limit.bytes);
    const std::vector<std::string_view> types(patterns.begin(), patterns.end());
    if (types.empty())
        with.add(std::nullopt);
    else
        with.add(std::span<const std::string_view>(types));
}

}  // namespace

awaitable<result<pq::result_set>> token_store::insert(uuid workspace, const new_token& token,
                                                      const new_grant* grant, std::int64_t most_live)
{
    auto tx = co_await db_.begin(pq::lane::small, workspace);
    if (!tx)
        co_return tx.error();
    const pq::parameters owner(workspace);
    const auto owner_place = tx->queued();
    tx->queue(lock_owner, owner);
    const auto maker_place = tx->queued();
    if (token.minted_with) {
        const pq::parameters maker(*token.minted_with);
        tx->queue(lock_maker, maker);
    }
    const pq::parameters ended(workspace, grant != nullptr, max_ended);
    tx->queue(forget_ended, ended);

    const auto hash = is_restricted(token) ? restricted_hash(token.hash) : token.hash;
    pq::parameters with(workspace, token.id, as_blob(hash), token.prefix, to_string(token.scope), token.name);
    with.add(token.lifetime ? std::optional<std::int64_t>(token.lifetime->count()) : std::nullopt);
    add_terms(with, grant);
    with.add(most_live);
    with.add(token.minted_with);
    with.add(max_rows);
    const auto place = tx->queued();
    tx->queue(insert_token, with);
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    if ((*done)[owner_place].empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    if (token.minted_with && (*done)[maker_place].empty())
        co_return RESTANTE_ERROR(errc::invalid_token);
    if ((*done)[place].empty())
        co_return RESTANTE_ERROR(errc::too_many_tokens);
    co_return std::move((*done)[place]);
}

awaitable<result<token_info>> token_store::mint(uuid workspace, const new_token& token,
                                                std::int64_t most_live)
{
    auto row = co_await insert(workspace, token, nullptr, most_live);
    if (!row)
        co_return row.error();
    co_return read_token_info((*row)[0]);
}

awaitable<result<grant_info>> token_store::mint_grant(uuid workspace, const new_token& token,
                                                      const new_grant& grant)
{
    auto row = co_await insert(workspace, token, &grant, max_live);
    if (!row)
        co_return row.error();
    co_return read_grant_info((*row)[0]);
}

}  // namespace restante
