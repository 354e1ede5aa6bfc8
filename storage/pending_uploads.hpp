#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/file_content.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/transaction.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restante {

// A file about to be staged. The names have been through core/file_names already.
struct new_file {
    uuid file_id = make_uuid_v7();
    uuid activity_id = make_uuid_v7();
    std::string filename;
    std::string original_name;
    std::string mimetype;
    digest32 sha256{};
    std::shared_ptr<file_content> content;
};

struct staged_file {
    uuid file_id;
    uuid workspace_id;
    std::string filename;
    std::optional<std::string> original_name;
    std::string mimetype;
    std::int64_t size = 0;
    digest32 sha256{};
    timestamp created_at{};
    std::optional<timestamp> fetched_at;
    timestamp expires_at{};
};

struct sweep_counts {
    std::int64_t acked = 0;
    std::int64_t expired = 0;
};

// Staged files in PostgreSQL. Every call checks what it is given before it asks the database: a file that is
// empty, has no name or one that is too long fails with invalid_file, one above the cap with too_large; the same
// in all three puts. A statement that touches a file names its workspace too, so that nobody reaches another's.
class pending_uploads {
public:
    static constexpr std::uint64_t max_file_bytes = 26'214'400;
    // Up to here a request's bytes travel as statement parameters; above it they are COPYed from the spool.
    static constexpr std::uint64_t small_request_bytes = 512 * 1024;

    pending_uploads(pq::connection_pool& db, std::chrono::microseconds ttl) : db_(db), ttl_(ttl) {}

    // One file, or all of a batch, in a transaction of their own. The ids, in input order; none for an empty batch.
    awaitable<result<uuid>> put(uuid workspace, new_file file);
    awaitable<result<std::vector<uuid>>> put_batch(uuid workspace, std::vector<new_file> files);

    // The same in the caller's transaction, which this never commits. Small batches are only queued and travel
    // with the commit; large ones have been copied when this returns.
    awaitable<result<std::vector<uuid>>> put_batch_tx(pq::transaction& tx, uuid workspace,
                                                      std::span<const new_file> files);

    static error_code validate(std::span<const new_file> files);
    static pq::lane lane_for(std::span<const new_file> files);

private:
    void queue_rows(pq::transaction& tx, uuid workspace, std::span<const new_file> files);
    awaitable<error_code> copy_rows(pq::transaction& tx, uuid workspace, std::span<const new_file> files);

    pq::connection_pool& db_;
    std::chrono::microseconds ttl_;
};

}  // namespace restante
