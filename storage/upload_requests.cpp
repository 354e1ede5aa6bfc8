#include "storage/upload_requests.hpp"

#include "core/encoding.hpp"

#include <algorithm>

namespace restante {

namespace {

// The first statement of a transaction, so it also says how long the following ones wait for a lock.
const statement insert_fence{
    "insert_fence",
    "INSERT INTO upload_requests (workspace_id, key, files_expire_at, outcome, expires_at) "
    "VALUES ($1::uuid, $2::text, now() + $3::int8 * interval '1 microsecond', 'stored', "
    "now() + interval '15 minutes') RETURNING files_expire_at, "
    "set_config('lock_timeout', coalesce($4::text, current_setting('lock_timeout')), true)"};

const statement insert_key{
    "insert_key",
    "INSERT INTO upload_requests "
    "(workspace_id, key, fingerprint, response, files_expire_at, outcome, expires_at) "
    "VALUES ($1::uuid, $2::text, $3::bytea, $4::text, now() + $5::int8 * interval '1 microsecond', 'stored', "
    "now() + $6::int8 * interval '1 microsecond')"};

// An UPDATE that changes nothing, so that its commit waits for a synchronous standby as every commit does: a
// row that a read shows may not have reached the standby yet.
const statement find_key{
    "find_key",
    "UPDATE upload_requests SET outcome = outcome WHERE workspace_id = $1::uuid AND key = $2::text "
    "RETURNING fingerprint, response, coalesce(files_expire_at, now()), expires_at <= now(), "
    "coalesce(files_expire_at <= now(), false)",
    promised};

const statement forget_key{
    "forget_key",
    "DELETE FROM upload_requests WHERE workspace_id = $1::uuid AND key = $2::text AND expires_at <= now()"};

// Waits on the unique index while the lost transaction is alive. Once this row stands, it cannot commit any
// more. DO UPDATE and not DO NOTHING, for the reason given above.
const statement settle_fence{
    "settle_fence",
    "INSERT INTO upload_requests AS fence (workspace_id, key, outcome, expires_at) VALUES "
    "($1::uuid, $2::text, 'abandoned', now() + interval '15 minutes') "
    "ON CONFLICT (workspace_id, key) DO UPDATE SET outcome = fence.outcome "
    "RETURNING CASE WHEN outcome = 'stored' THEN files_expire_at END",
    promised};

}  // namespace

request_key request_key::of_client(std::string text, const digest32& fingerprint)
{
    return {.text = std::move(text), .fingerprint = fingerprint};
}

// A space keeps our keys apart from those of clients; hashed, because an id may be of any length.
request_key request_key::of_message(std::string_view message_id, std::chrono::microseconds lifetime)
{
    return {.text = "message " + to_hex(sha256_of(message_id)), .lifetime = lifetime};
}

std::string upload_requests::make_fence()
{
    return "fence " + to_string(make_uuid_v7());
}

void upload_requests::queue_fence(pq::transaction& tx, const uuid& workspace, const std::string& fence,
                                  std::optional<std::chrono::milliseconds> lock_wait)
{
    std::optional<std::string> lock_timeout;
    if (lock_wait)
        lock_timeout = std::to_string(lock_wait->count());
    const pq::parameters with(workspace, fence, static_cast<std::int64_t>(ttl_.count()), lock_timeout);
    tx.queue(insert_fence, with);
}

void upload_requests::queue_key(pq::transaction& tx, const uuid& workspace, const request_key& key,
                                const std::string& answer, bool with_files)
{
    std::optional<pq::blob> fingerprint;
    if (key.fingerprint)
        fingerprint.emplace(reinterpret_cast<const char*>(key.fingerprint->data()), key.fingerprint->size());
    std::optional<std::int64_t> files_live;
    if (with_files)
        files_live = ttl_.count();
    const pq::parameters with(workspace, key.text, fingerprint, answer, files_live,
                              static_cast<std::int64_t>(key.lifetime.count()));
    tx.queue(insert_key, with);
}

awaitable<result<std::optional<earlier_request>>> upload_requests::find(uuid workspace, std::string key)
{
    const pq::parameters with(workspace, key);
    auto found = co_await db_.execute(find_key, with, workspace);
    if (!found)
        co_return found.error();
    if (found->empty())
        co_return std::optional<earlier_request>();
    auto values = (*found)[0].as<std::optional<pq::blob>, std::string, timestamp, bool, bool>();
    if (!values)
        co_return values.error();
    auto& [fingerprint, answer, files_expire_at, expired, files_gone] = *values;
    earlier_request earlier{.fingerprint = {},
                            .answer = std::move(answer),
                            .files_expire_at = files_expire_at,
                            .expired = expired,
                            .files_gone = files_gone};
    if (fingerprint) {
        earlier.fingerprint.emplace();
        std::copy(fingerprint->begin(), fingerprint->end(), earlier.fingerprint->begin());
    }
    co_return std::optional(std::move(earlier));
}

awaitable<result<void>> upload_requests::forget_expired(uuid workspace, std::string key)
{
    const pq::parameters with(workspace, key);
    auto done = co_await db_.execute(forget_key, with, workspace);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<std::optional<timestamp>>> upload_requests::settle(uuid workspace, std::string fence,
                                                                    std::chrono::milliseconds within)
{
    const pq::parameters with(workspace, fence);
    auto settled = co_await db_.execute_within(within, settle_fence, with);
    if (!settled)
        co_return settled.error();
    co_return (*settled)[0][0].as<std::optional<timestamp>>();
}

}  // namespace restante
