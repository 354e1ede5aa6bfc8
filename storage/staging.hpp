#pragma once

#include "storage/content/content_stores.hpp"
#include "storage/group_commit.hpp"
#include "storage/staging_transaction.hpp"
#include "storage/workspace_turns.hpp"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace restante {

struct staged {
    timestamp expires_at{};
    // Set when one of the keys has been used for the same request before: the first answer. Nothing was
    // stored now.
    std::optional<std::string> earlier_answer;
};

// Stores requests: all files of a request and their activity rows, or none. Fails with workspace_not_found or
// invalid_token when the workspace was removed or the token revoked meanwhile, could_not_stage or
// could_not_log when a row was refused, grant_exhausted, quota_exceeded, idempotency_key_reused,
// idempotency_key_running, content_store_unavailable, no_room,
// idempotent_files_gone, schema_missing, database_* when nothing was stored, commit_outcome_unknown when even
// asking afterwards gave no answer.
//
// Small requests share transactions (group_commit): one COMMIT, one flush to disk for several of them. A
// request with a key or a grant runs alone, because it may have to wait for that row, and so does a large
// one; of the small ones among them, only a few of one workspace run at a time. When a shared transaction
// fails, its members are tried again without those that made it fail.
//
// Bytes that do not stay in their rows are made durable first, and removed again when nothing was stored.
// When the outcome is unknown they stay, because their rows may be there; the janitor removes them if not.
class staging {
public:
    staging(executor ex, pq::connection_pool& db, pending_uploads& uploads, activity_log& activity,
            upload_requests& requests, content_stores* contents = nullptr, group_commit::limits limits = {});

    awaitable<result<staged>> stage(upload load);

    // Whether something was stored under this key: the request may be a repetition, which stores nothing.
    // False also while the database cannot say.
    awaitable<bool> has_used(uuid workspace, std::string key);

private:
    using clock = std::chrono::steady_clock;

    struct member;
    class queue_slot;
    class leadership;
    using group = std::vector<std::shared_ptr<member>>;
    using sharing = staging_transaction::sharing;

    awaitable<result<staged>> stage_rows(upload load);
    awaitable<result<staged>> stage_shared(upload load);
    awaitable<result<staged>> stage_alone(upload load);
    awaitable<error_code> wait_in_queue(member& self);
    group gather(const std::shared_ptr<member>& leader);
    void wake_next_leaders();

    awaitable<void> commit_group(const group& members, sharing how);
    awaitable<void> retry_without_blocked(const group& members);
    awaitable<result<std::vector<uuid>>> find_blocked(std::vector<uuid> workspaces);
    awaitable<void> retry_one_by_one(const group& members, sharing how);
    awaitable<result<timestamp>> commit_transaction(const group& members, sharing how);
    awaitable<void> settle_one(member& which, result<timestamp> committed);
    awaitable<result<staged>> look_up_keys(const member& which);

    executor ex_;
    activity_log& activity_;
    upload_requests& requests_;
    content_stores* contents_;
    commit_recovery recovery_;
    staging_stores stores_;
    group_commit queue_;
    workspace_turns alone_turns_;
    group_commit::ticket next_ticket_ = 1;
    std::unordered_map<group_commit::ticket, std::shared_ptr<member>> queued_;
};

}  // namespace restante
