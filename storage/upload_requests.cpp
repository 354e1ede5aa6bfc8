#include "storage/upload_requests.hpp"

#include <algorithm>

namespace restante {

namespace {

const statement insert_fence{"insert_fence",
                             "INSERT INTO upload_requests (workspace_id, key, files_expire_at, outcome, "
                             "expires_at) VALUES ($1::uuid, $2::text, "
                             "now() + $3::int8 * interval '1 microsecond', 'stored', now() + interval '15 "
                             "minutes') RETURNING files_expire_at"};

const statement insert_key{
    "insert_key",
    "INSERT INTO upload_requests "
    "(workspace_id, key, fingerprint, response, files_expire_at, outcome, expires_at) "
    "VALUES ($1::uuid, $2::text, $3::bytea, $4::text, now() + $5::int8 * interval '1 microsecond', 'stored', "
    "now() + interval '48 hours')"};

const statement find_key{
    "find_key",
    "SELECT fingerprint, response, files_expire_at, expires_at <= now() FROM upload_requests "
    "WHERE workspace_id = $1::uuid AND key = $2::text"};

const statement forget_key{
    "forget_key",
    "DELETE FROM upload_requests WHERE workspace_id = $1::uuid AND key = $2::text AND expires_at <= now()"};

// Waits on the unique index while the lost transaction is alive. Once this row stands, it cannot commit any
// more.
const statement abandon_fence{"abandon_fence",
                              "INSERT INTO upload_requests (workspace_id, key, outcome, expires_at) VALUES "
                              "($1::uuid, $2::text, 'abandoned', "
                              "now() + interval '15 minutes') ON CONFLICT (workspace_id, key) DO NOTHING"};

const statement find_fence{
    "find_fence",
    "SELECT files_expire_at FROM upload_requests WHERE workspace_id = $1::uuid AND key = $2::text "
    "AND outcome = 'stored'"};

}  // namespace

// The space keeps our keys apart from clients' keys, which are visible characters only.
std::string upload_requests::make_fence()
{
    return "fence " + to_string(make_uuid_v7());
}

void upload_requests::queue_fence(pq::transaction& tx, const uuid& workspace, const std::string& fence)
{
    const pq::parameters with(workspace, fence, static_cast<std::int64_t>(ttl_.count()));
    tx.queue(insert_fence, with);
}

void upload_requests::queue_key(pq::transaction& tx, const uuid& workspace, const client_key& key,
                                const std::string& answer)
{
    const pq::blob fingerprint(reinterpret_cast<const char*>(key.fingerprint.data()), key.fingerprint.size());
    const pq::parameters with(workspace, key.text, fingerprint, answer,
                              static_cast<std::int64_t>(ttl_.count()));
    tx.queue(insert_key, with);
}

awaitable<result<std::optional<earlier_request>>> upload_requests::find(uuid workspace, std::string key)
{
    const pq::parameters with(workspace, key);
    auto found = co_await db_.execute(find_key, with);
    if (!found)
        co_return found.error();
    if (found->empty())
        co_return std::optional<earlier_request>();
    auto values = (*found)[0].as<pq::blob, std::string, timestamp, bool>();
    if (!values)
        co_return values.error();
    auto& [fingerprint, answer, files_expire_at, expired] = *values;
    earlier_request earlier{
        .answer = std::move(answer), .files_expire_at = files_expire_at, .expired = expired};
    std::copy(fingerprint.begin(), fingerprint.end(), earlier.fingerprint.begin());
    co_return std::optional(std::move(earlier));
}

awaitable<result<void>> upload_requests::forget_expired(uuid workspace, std::string key)
{
    const pq::parameters with(workspace, key);
    auto done = co_await db_.execute(forget_key, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<std::optional<timestamp>>> upload_requests::settle(uuid workspace, std::string fence)
{
    const pq::parameters with(workspace, fence);
    auto abandoned = co_await db_.execute(abandon_fence, with);
    if (!abandoned)
        co_return abandoned.error();
    auto found = co_await db_.execute(find_fence, with);
    if (!found)
        co_return found.error();
    if (found->empty())
        co_return std::optional<timestamp>();
    auto expires_at = (*found)[0][0].as<timestamp>();
    if (!expires_at)
        co_return expires_at.error();
    co_return std::optional(*expires_at);
}

}  // namespace restante
