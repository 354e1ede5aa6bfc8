#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "core/task_group.hpp"
#include "core/trace.hpp"
#include "storage/content/content_place.hpp"
#include "storage/content/file_content.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace restante {

// Bytes that are about to be stored under a key.
struct content_to_store {
    std::string key;
    std::shared_ptr<file_content> bytes;
    digest32 sha256{};
    std::optional<trace_context> trace = {};  // of the request that brings them
};

// What the row of a staged file says of its bytes. The key is empty where they are in the row itself.
struct stored_content {
    uuid file_id{};
    uuid workspace_id{};
    std::string key;
    std::uint64_t size = 0;
    digest32 sha256{};
    std::optional<trace_context> trace = {};  // of the request that wants them
};

struct content_part {
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

// An open file that can be sent as it is.
struct file_range {
    int descriptor = -1;
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

// Bytes that are being read. Once it is open, nothing that happens to the row cuts it short.
class content_reader {
public:
    virtual ~content_reader() = default;

    // The next bytes, valid until the next call; not called after the last ones, and never empty before.
    // Errors: content_lost (fewer are there than the row says), content_store_unavailable, database_*.
    virtual awaitable<result<std::span<const char>>> next() = 0;

    // Compares all bytes with the digest of the row, whatever part was opened; returns at once where they are
    // known to be right, or where this is not the reader's to find out. Errors: content_lost,
    // content_store_unavailable.
    virtual awaitable<error_code> verify() { co_return error_code{}; }

    // The bytes as a part of a file, where they are one, and known to be right.
    virtual std::optional<file_range> file() const { return std::nullopt; }

    // Holds something that others wait for, a database connection for one: whoever sends the bytes to a
    // client must not let it wait for that client.
    virtual bool must_be_drained() const { return false; }
};

// Bytes that a store has, as it lists them.
struct listed_content {
    std::string key;
    std::uint64_t size = 0;
};

// A place for the bytes of staged files. Each shard has objects of its own. Every call is bounded in time,
// and none blocks the shard.
//
// The order of things is its callers' (storage/staging, sweeper/): bytes are stored before their row, and
// removed after it. So a crash leaves at most bytes without a row.
class content_store {
public:
    virtual ~content_store() = default;

    virtual content_place place() const = 0;

    // Makes all of these durable. After an error some of them may be there: the caller removes them. Errors:
    // content_store_unavailable, and io_error when what is to be stored cannot be read.
    virtual awaitable<error_code> write(std::span<const content_to_store> files) = 0;

    // Opens a part of the bytes. content_lost when they are not there or not as many as the row says,
    // content_store_unavailable when that cannot be known now, database_*.
    virtual awaitable<result<std::unique_ptr<content_reader>>> open(stored_content what,
                                                                    content_part part) = 0;

    // Removes what is stored under these keys; what is not there counts as removed. Returns the keys whose
    // bytes are still there; an error when that is not known.
    virtual awaitable<result<std::vector<std::string>>> remove(std::span<const std::string> keys) = 0;

    // Up to `limit` of what is stored, in the order of the keys: those after `after` and before `before`
    // ("2026-11-16T18" comes before all keys of that hour).
    virtual awaitable<result<std::vector<listed_content>>> list(std::string after, std::string before,
                                                                std::size_t limit) = 0;

    // How long removed rows keep their bytes, for a store that does not keep open what is being read.
    virtual std::chrono::seconds removal_delay() const { return {}; }

    // One sentence while the store cannot be used, free of secrets.
    virtual std::optional<std::string> trouble() const { return std::nullopt; }

    // Whether so many bytes can be stored, as far as that is known without trying: asked before a body is
    // read.
    virtual bool has_room(std::uint64_t) const { return !trouble(); }

    // Keeps trouble() up to date until a stop is requested.
    virtual awaitable<void> run(task_group&) { co_return; }
};

}  // namespace restante
