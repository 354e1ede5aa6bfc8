#pragma once

#include "storage/activity_log.hpp"
#include "storage/commit_recovery.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/upload.hpp"
#include "storage/upload_requests.hpp"

#include <optional>
#include <span>
#include <string>

namespace restante {

// What a transaction that stores requests is made of.
struct staging_stores {
    pq::connection_pool& db;
    pending_uploads& uploads;
    activity_log& activity;
    upload_requests& requests;
    commit_recovery& recovery;
};

// One transaction that stores all of the given requests, or none: fence, keys, files, feed rows, COMMIT.
// Small ones are one flush. Only a request that is alone may be large or have keys or a grant.
class staging_transaction {
public:
    enum class sharing { alone, shared };

    // The requests must live as long as this does.
    staging_transaction(const staging_stores& with, std::span<const upload* const> requests, sharing how);

    // When the files expire. Errors as those of staging::stage(), except that a used key is unique_violation,
    // and that a refused row has its own error when requests share the transaction. A lost COMMIT is asked
    // about until `give_up_at`.
    awaitable<result<timestamp>> commit(commit_recovery::clock::time_point give_up_at);

private:
    bool is_too_late() const;
    void queue_fence_and_keys();
    awaitable<error_code> begin_large();
    awaitable<error_code> write_files();
    void publish();
    error_code key_error(error_code ec) const;
    error_code judge(error_code ec) const;

    staging_stores with_;
    std::span<const upload* const> requests_;
    const upload& first_;
    sharing how_;
    bool large_;
    std::string fence_ = upload_requests::make_fence();
    std::optional<pq::transaction> tx_;
    activity_rows rows_;
    timestamp expires_at_{};
    // Indexes of queued statements.
    std::size_t fence_place_ = 0;
    std::size_t first_file_ = 0;
    std::size_t first_activity_ = 0;
};

// A row that PostgreSQL refused, as opposed to a database that is unavailable, busy or without the table.
bool is_refusal(error_code ec);

}  // namespace restante
