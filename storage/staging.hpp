#pragma once

#include "storage/activity_log.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/upload_requests.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace restante {

// One request's files with what the feed is to say of each.
struct upload {
    uuid workspace;
    std::vector<new_file> files;
    activity_rows activities;
    std::shared_ptr<const std::string> answer;  // with a gap for the time of expiry; kept under the key
    std::optional<client_key> key;
};

struct staged {
    timestamp expires_at{};
    // Set when the client's key has been used for the same files before: the first answer. Nothing was stored
    // now.
    std::optional<std::string> earlier_answer;
};

// Stores uploads: all files of a request and their activity rows, or none. Fails with could_not_stage or
// could_not_log when a row was refused, idempotency_key_reused, idempotency_key_running, schema_missing,
// database_* when nothing was stored, commit_outcome_unknown when even asking afterwards gave no answer.
//
// Small requests travel together. While commits are under way, those that arrive wait for the next one, and
// the first of them leads it: one transaction, one COMMIT, one flush to disk for several requests. Nobody
// waits when the line is free. A request with a client's key goes alone: it may have to wait for that key.
// When a shared transaction fails, each request is tried again on its own, so that one refused row is its
// owner's trouble alone.
class staging {
public:
    staging(executor ex, pq::connection_pool& db, pending_uploads& uploads, activity_log& activity,
            upload_requests& requests);

    awaitable<result<staged>> stage(upload load);

private:
    struct passenger;
    class boarding;
    class lead;
    using group = std::vector<std::shared_ptr<passenger>>;

    awaitable<result<staged>> ride(upload load);
    awaitable<void> travel(const group& aboard);
    awaitable<result<timestamp>> commit_together(const group& aboard);
    awaitable<result<timestamp>> settle_outcome(const group& aboard, const std::string& fence,
                                                std::chrono::steady_clock::time_point give_up_at);
    awaitable<result<staged>> look_up_key(const passenger& who);
    group board(std::shared_ptr<passenger> leader);
    static activity_rows activities_of(const group& aboard);

    executor ex_;
    pq::connection_pool& db_;
    pending_uploads& uploads_;
    activity_log& activity_;
    upload_requests& requests_;
    std::deque<std::shared_ptr<passenger>> waiting_;
    unsigned under_way_ = 0;
};

}  // namespace restante
