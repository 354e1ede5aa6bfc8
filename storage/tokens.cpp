#include "storage/tokens.hpp"

#include <algorithm>

namespace restante {

namespace {

// Every request of a shard may wait for one of these before its own work begins.
constexpr auto lookup_limit = std::chrono::milliseconds(1500);

const statement find_owners{
    "token_find_owners",
    "SELECT t.token_hash, t.id, w.id, w.delivery_mode, coalesce(w.url, '') <> '',"
    "       to_regclass('public.pending_uploads') IS NOT NULL, w.removed_at IS NOT NULL"
    "  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id"
    " WHERE t.token_hash = ANY ($1::bytea[]) AND (t.revoked_at IS NULL OR w.removed_at IS NOT NULL)"};

const statement insert_token{
    "token_insert",
    "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix)"
    " SELECT $2::uuid, id, $3::bytea, $4::text FROM workspaces WHERE id = $1::uuid AND removed_at IS NULL"
    " RETURNING id, prefix, created_at, last_used_at, revoked_at"};

const statement list_tokens{
    "token_list",
    "SELECT id, prefix, created_at, last_used_at, revoked_at FROM workspace_auth_tokens"
    " WHERE workspace_id = $1::uuid ORDER BY created_at DESC, id LIMIT 500"};

const statement revoke_token{"token_revoke",
                             "UPDATE workspace_auth_tokens SET revoked_at = coalesce(revoked_at, now())"
                             " WHERE id = $2::uuid AND workspace_id = $1::uuid"};

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

result<token_info> read_info(const pq::row& row)
{
    using moment = std::optional<timestamp>;
    return row.into<token_info, uuid, std::string, timestamp, moment, moment>();
}

result<token_owner> read_owner(const pq::row& row)
{
    const auto hash = row[0].as<pq::blob>();
    const auto token = row[1].as<uuid>();
    const auto facts = read_workspace_facts(row, 2);
    if (!hash || !token || !facts || hash->size() != digest32{}.size())
        return RESTANTE_ERROR(errc::wrong_column_type);
    token_owner owner{.token = *token, .workspace = *facts};
    std::copy(hash->begin(), hash->end(), owner.hash.begin());
    return owner;
}

}  // namespace

awaitable<result<std::vector<token_owner>>> token_store::find(std::span<const digest32> hashes)
{
    std::vector<pq::blob> wanted;
    for (const auto& hash : hashes)
        wanted.push_back(as_blob(hash));
    const pq::parameters with{std::span<const pq::blob>(wanted)};
    auto rows = co_await db_.execute_within(lookup_limit, find_owners, with);
    if (!rows)
        co_return rows.error();

    std::vector<token_owner> owners;
    for (int i = 0; i < rows->size(); ++i) {
        auto owner = read_owner((*rows)[i]);
        if (!owner)
            co_return owner.error();
        owners.push_back(*owner);
    }
    co_return owners;
}

awaitable<result<token_info>> token_store::mint(uuid workspace, const new_token& token)
{
    const pq::parameters with(workspace, token.id, as_blob(token.hash), token.prefix);
    auto rows = co_await db_.execute(insert_token, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return read_info((*rows)[0]);
}

awaitable<result<std::vector<token_info>>> token_store::list(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(list_tokens, with);
    if (!rows)
        co_return rows.error();

    std::vector<token_info> tokens;
    for (int i = 0; i < rows->size(); ++i) {
        auto token = read_info((*rows)[i]);
        if (!token)
            co_return token.error();
        tokens.push_back(std::move(*token));
    }
    co_return tokens;
}

awaitable<result<void>> token_store::revoke(uuid workspace, uuid token)
{
    const pq::parameters with(workspace, token);
    auto done = co_await db_.execute(revoke_token, with);
    if (!done)
        co_return done.error();
    if (done->affected() == 0)
        co_return RESTANTE_ERROR(errc::not_found);
    co_return result<void>();
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
