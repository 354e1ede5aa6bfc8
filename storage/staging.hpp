#pragma once

#include "storage/activity_log.hpp"
#include "storage/commit_recovery.hpp"
#include "storage/group_commit.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/upload_requests.hpp"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace restante {

// One request's files with what the feed is to say of each. A message is a request without files.
struct upload {
    uuid workspace;
    std::optional<uuid> token = {};  // the token it came with, which must still be live when it is stored
    std::vector<new_file> files = {};
    activity_rows activities = {};
    std::shared_ptr<const std::string> answer = {};  // with a gap for the time of expiry; kept under the keys
    std::vector<request_key> keys = {};
};

struct staged {
    timestamp expires_at{};
    // Set when one of the keys has been used for the same request before: the first answer. Nothing was
    // stored now.
    std::optional<std::string> earlier_answer;
};

// Stores requests: all files of a request and their activity rows, or none. Fails with workspace_not_found or
// invalid_token when the workspace was removed or the token revoked meanwhile, could_not_stage or
// could_not_log when a row was refused, idempotency_key_reused, idempotency_key_running,
// idempotent_files_gone, schema_missing, database_* when nothing was stored, commit_outcome_unknown when even
// asking afterwards gave no answer.
//
// Small requests share transactions (group_commit): one COMMIT, one flush to disk for several of them. A
// request with a key runs alone, because it may have to wait for that key, and so does a large one. When a
// shared transaction fails, its members are tried again without those that made it fail.
class staging {
public:
    staging(executor ex, pq::connection_pool& db, pending_uploads& uploads, activity_log& activity,
            upload_requests& requests, group_commit::limits limits = {});

    awaitable<result<staged>> stage(upload load);

private:
    using clock = std::chrono::steady_clock;

    struct member;
    class queue_slot;
    class leadership;
    using group = std::vector<std::shared_ptr<member>>;
    enum class sharing { alone, shared };

    awaitable<result<staged>> stage_shared(upload load);
    awaitable<error_code> wait_in_queue(member& self);
    group gather(const std::shared_ptr<member>& leader);
    void wake_next_leaders();

    awaitable<void> commit_group(const group& members, sharing how);
    awaitable<void> retry_without_blocked(const group& members);
    awaitable<void> retry_one_by_one(const group& members, sharing how);
    awaitable<result<timestamp>> commit_transaction(const group& members, sharing how);
    awaitable<error_code> write_files(pq::transaction& tx, const group& members);
    awaitable<void> settle_one(member& which, result<timestamp> committed);
    awaitable<result<staged>> look_up_keys(const member& which);

    executor ex_;
    pq::connection_pool& db_;
    pending_uploads& uploads_;
    activity_log& activity_;
    upload_requests& requests_;
    commit_recovery recovery_;
    group_commit queue_;
    group_commit::ticket next_ticket_ = 1;
    std::unordered_map<group_commit::ticket, std::shared_ptr<member>> queued_;
};

}  // namespace restante
