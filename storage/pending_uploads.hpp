#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"
#include "core/sha256.hpp"
#include "storage/content/content_store.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/transaction.hpp"
#include "storage/upload_events.hpp"

#include <memory>
#include <optional>
#include <span>
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
    std::optional<uuid> staged_by = {};  // the token that it came with
    // Where its bytes are when the row is written. A key only outside of the row.
    content_place place = content_place::inline_;
    std::string key = {};

    bool is_inline() const { return place == content_place::inline_; }
};

struct file_of_workspace {
    uuid workspace;
    const new_file* file;
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
    content_place place = content_place::inline_;
    std::string key;

    stored_content content() const
    {
        return {file_id, workspace_id, key, static_cast<std::uint64_t>(size), sha256};
    }
};

// A staged file as a fetch sees it. The content is there when it was asked for, is in the row and is no
// larger than pending_uploads::inline_bytes; it lives as long as `holder` does.
struct fetched_file {
    staged_file file;
    std::optional<std::span<const char>> content;
    std::shared_ptr<const void> holder;
    bool verified = false;  // compared with its digest already
};

// What a workspace says that it has. The digest, when it gives one, is of the bytes that arrived.
struct file_to_ack {
    uuid file_id{};
    std::optional<digest32> sha256 = {};
};

struct acked_file {
    upload_change what;
    std::string mimetype;
    bool again = false;       // it was acked before; that time is kept
    bool raced = false;       // a sweep removed it while we acked
    bool mismatched = false;  // other bytes arrived: it was not acked
};

struct sweep_counts {
    std::int64_t acked = 0;
    std::int64_t expired = 0;
};

class standby_contents;

// Staged files in PostgreSQL. Every call validates its input before any SQL: a file that is empty, has no
// name or one that is too long fails with invalid_file, one above the cap with too_large; the same in all
// three puts. A statement that touches a file names its workspace too, so that no workspace reaches
// another's.
class pending_uploads {
public:
    // Up to here a request's bytes are sent as statement parameters; above it they are COPYed from the spool.
    static constexpr std::uint64_t small_request_bytes = 1024 * 1024;
    // Up to here get() includes the bytes of a row; above it they are read in slices (inline_store).
    static constexpr std::int64_t inline_bytes = 1024 * 1024;

    // The listener hears of files that were fetched or acked, once for each, after the commit. Bytes that
    // get() includes may come from elsewhere, if that is given.
    pending_uploads(pq::connection_pool& db, std::chrono::microseconds ttl,
                    live_event_listener* listener = nullptr, standby_contents* elsewhere = nullptr)
        : db_(db), ttl_(ttl), listener_(listener), elsewhere_(elsewhere)
    {
    }

    // One file, or all of a batch, in a transaction of their own. The ids, in input order; none for an empty
    // batch.
    awaitable<result<uuid>> put(uuid workspace, new_file file);
    awaitable<result<std::vector<uuid>>> put_batch(uuid workspace, std::vector<new_file> files);

    // The same in the caller's transaction, which this never commits. Small batches are only queued and sent
    // with the commit; large ones have been copied when this returns.
    awaitable<result<std::vector<uuid>>> put_batch_tx(pq::transaction& tx, uuid workspace,
                                                      std::span<const new_file> files);

    // The same for files of several workspaces that are small together and were validated: only queued.
    void queue_rows_tx(pq::transaction& tx, std::span<const file_of_workspace> files);

    enum class want { facts, content };
    enum class acked { hidden, shown };

    // A file that waits for its workspace: not_found when it is absent, expired, another workspace's, or
    // acked (unless acked files are to be shown and the sweep has not removed this one yet).
    awaitable<result<fetched_file>> get(uuid workspace, uuid file, want what, acked those = acked::hidden);

    // Unacked, unexpired files, oldest first, from the one after `after` on. When that has been swept, from
    // five minutes before its id was made on, so that clocks that differ may repeat files and don't skip any;
    // from the beginning when it is no id of ours.
    awaitable<result<std::vector<staged_file>>> list(uuid workspace, int limit, std::optional<uuid> after);

    // Those of the files that could be acked, in no order, and those whose digest is another one; the rest
    // are absent, expired or another workspace's. One statement decides; an ack is final.
    awaitable<result<std::vector<acked_file>>> ack(uuid workspace, std::span<const file_to_ack> files);

    // Stamps fetched_at with the database's now. Element i of both spans is one fetch.
    awaitable<result<void>> mark_fetched(std::span<const uuid> workspaces, std::span<const uuid> files);

    static error_code validate(std::span<const new_file> files);
    static pq::lane lane_for(std::span<const new_file> files);
    // What the rows of these files hold of their bytes.
    static std::uint64_t inline_size(std::span<const new_file> files);

private:
    awaitable<result<fetched_file>> read_row(uuid workspace, uuid file, std::int64_t inline_limit,
                                             acked those);
    awaitable<error_code> copy_rows(pq::transaction& tx, uuid workspace, std::span<const new_file> files);

    pq::connection_pool& db_;
    std::chrono::microseconds ttl_;
    live_event_listener* listener_;
    standby_contents* elsewhere_;
};

}  // namespace restante
