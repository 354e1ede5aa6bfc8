#include "storage/tokens.hpp"

#include "storage/token_rows.hpp"

#include <algorithm>

namespace restante {

namespace {

// Every request of a shard may wait for one of these before its own work begins.
constexpr auto lookup_limit = std::chrono::milliseconds(1500);

const statement find_owners{
    "token_find_owners",
    "SELECT t.token_hash, t.id, w.id, w.delivery_mode, coalesce(w.url, '') <> '',"
    "       to_regclass('public.pending_uploads') IS NOT NULL, w.removed_at IS NOT NULL, t.scope,"
    "       (extract(epoch FROM t.expires_at - now()) * 1000000)::int8, t.max_requests, t.max_files, t.max_bytes,"
    "       t.used_requests, t.used_files, t.used_bytes, t.types"
    "  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id"
    " WHERE t.token_hash = ANY ($1::bytea[]) AND (t.revoked_at IS NULL OR w.removed_at IS NOT NULL)"
    "   AND (t.expires_at IS NULL OR t.expires_at > now())"};

// Before the migration that brings scopes there are full tokens only. A server that runs with --no-migrate
// serves until it lands what can be served.
const statement find_full_owners{
    "token_find_full_owners",
    "SELECT t.token_hash, t.id, w.id, w.delivery_mode, coalesce(w.url, '') <> '',"
    "       to_regclass('public.pending_uploads') IS NOT NULL, w.removed_at IS NOT NULL, 'full', NULL::int8"
    "  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id"
    " WHERE t.token_hash = ANY ($1::bytea[]) AND (t.revoked_at IS NULL OR w.removed_at IS NOT NULL)"};

const statement find_changes{
    "token_recent_changes",
    "SELECT ARRAY(SELECT id FROM workspace_auth_tokens WHERE revoked_at > now() - interval '1 minute'),"
    "       ARRAY(SELECT id FROM workspaces WHERE updated_at > now() - interval '1 minute')"};

// Live ones first, and room for all of them: what is not in a list can hardly be revoked.
static_assert(token_store::max_live + token_store::max_ended == 1500);

const statement list_tokens{
    "token_list",
    "SELECT id, prefix, scope, name, created_at, last_used_at, expires_at, revoked_at FROM workspace_auth_tokens"
    " WHERE workspace_id = $1::uuid AND scope <> 'grant'"
    " ORDER BY coalesce(least(revoked_at, expires_at) > now(), true) DESC, created_at DESC, id LIMIT 1500"};

const statement list_upload_grants{
    "token_list_grants",
    "SELECT id, prefix, scope, name, created_at, last_used_at, expires_at, revoked_at, coalesce(created_by, ''),"
    "       max_requests, max_files, max_bytes, used_requests, used_files, used_bytes, types"
    "  FROM workspace_auth_tokens"
    " WHERE workspace_id = $1::uuid AND scope = 'grant'"
    " ORDER BY coalesce(least(revoked_at, expires_at) > now(), true) DESC, created_at DESC, id LIMIT 1500"};

const statement view_token{
    "token_view",
    "SELECT t.id, t.prefix, t.scope, t.name, t.created_at, t.last_used_at, t.expires_at, t.revoked_at,"
    "       coalesce(t.created_by, ''), coalesce(t.max_requests, 0), coalesce(t.max_files, 0), coalesce(t.max_bytes, 0),"
    "       t.used_requests, t.used_files, t.used_bytes, t.types,"
    "       w.id, coalesce(w.name, w.agent_card->>'name', w.id::text)"
    "  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id"
    " WHERE t.id = $1::uuid AND t.revoked_at IS NULL AND w.removed_at IS NULL"
    "   AND (t.expires_at IS NULL OR t.expires_at > now())"};

const statement revoke_token{"token_revoke",
                             "UPDATE workspace_auth_tokens SET revoked_at = coalesce(revoked_at, now())"
                             " WHERE id = $2::uuid AND workspace_id = $1::uuid"
                             "   AND (scope = 'grant') = $3::bool",
                             promised};

// Rows that another shard is stamping are skipped, so that two shards never wait for each other.
const statement stamp_tokens{"token_stamp_last_used",
                             "UPDATE workspace_auth_tokens SET last_used_at = now() WHERE id IN ("
                             "  SELECT id FROM workspace_auth_tokens WHERE id = ANY ($1::uuid[])"
                             "     AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')"
                             "     FOR NO KEY UPDATE SKIP LOCKED)"};

pq::blob as_blob(const digest32& hash)
{
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

template <class Row>
result<std::vector<Row>> read_all(const pq::result_set& rows, result<Row> (*read)(const pq::row&))
{
    std::vector<Row> all;
    for (int i = 0; i < rows.size(); ++i) {
        auto row = read(rows[i]);
        if (!row)
            return row.error();
        all.push_back(std::move(*row));
    }
    return all;
}

}  // namespace

digest32 restricted_hash(const digest32& hash)
{
    return sha256_of(std::string_view(as_blob(hash).data(), hash.size()));
}

awaitable<result<std::vector<token_owner>>> token_store::find(std::span<const digest32> hashes)
{
    std::vector<digest32> restricted;
    restricted.reserve(hashes.size());
    std::vector<pq::blob> wanted;
    for (const auto& hash : hashes) {
        restricted.push_back(restricted_hash(hash));
        wanted.push_back(as_blob(hash));
        wanted.push_back(as_blob(restricted.back()));
    }
    const pq::parameters with{std::span<const pq::blob>(wanted)};
    auto rows = co_await db_.execute_within(lookup_limit, find_owners, with);
    if (!rows && rows.error() == errc::schema_missing)
        rows = co_await db_.execute_within(lookup_limit, find_full_owners, with);
    if (!rows)
        co_return rows.error();
    auto owners = read_all(*rows, read_token_owner);
    if (!owners)
        co_return owners.error();
    // The caller knows them by the hash it asked for.
    for (auto& owner : *owners) {
        const auto found = std::find(restricted.begin(), restricted.end(), owner.hash);
        if (found != restricted.end())
            owner.hash = hashes[static_cast<std::size_t>(found - restricted.begin())];
    }
    co_return owners;
}

awaitable<result<identity_changes>> token_store::recent_changes()
{
    const pq::parameters none;
    auto rows = co_await db_.execute_within(lookup_limit, find_changes, none);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0].into<identity_changes, std::vector<uuid>, std::vector<uuid>>();
}

awaitable<result<std::vector<token_info>>> token_store::list(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(list_tokens, with, workspace);
    if (!rows)
        co_return rows.error();
    co_return read_all(*rows, read_token_info);
}

awaitable<result<std::vector<grant_info>>> token_store::list_grants(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(list_upload_grants, with, workspace);
    if (!rows)
        co_return rows.error();
    co_return read_all(*rows, read_grant_info);
}

awaitable<result<std::optional<token_view>>> token_store::view(uuid token)
{
    const pq::parameters with(token);
    auto rows = co_await db_.execute(view_token, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return std::optional<token_view>();
    auto info = read_grant_info((*rows)[0]);
    const auto workspace = (*rows)[0][16].as<uuid>();
    auto name = (*rows)[0][17].as<std::string>();
    if (!info || !workspace || !name)
        co_return RESTANTE_ERROR(errc::wrong_column_type);
    co_return token_view{*workspace, std::move(*name), std::move(*info)};
}

awaitable<result<void>> token_store::revoke_row(uuid workspace, uuid token, bool is_grant)
{
    const pq::parameters with(workspace, token, is_grant);
    auto done = co_await db_.execute(revoke_token, with, workspace);
    if (!done)
        co_return done.error();
    if (done->affected() == 0)
        co_return RESTANTE_ERROR(is_grant ? errc::grant_not_found : errc::not_found);
    co_return result<void>();
}

awaitable<result<void>> token_store::revoke(uuid workspace, uuid token)
{
    return revoke_row(workspace, token, false);
}

awaitable<result<void>> token_store::revoke_grant(uuid workspace, uuid grant)
{
    return revoke_row(workspace, grant, true);
}

awaitable<result<void>> token_store::stamp_last_used(std::span<const uuid> tokens)
{
    const pq::parameters with(tokens);
    auto done = co_await db_.execute(stamp_tokens, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

}  // namespace restante
