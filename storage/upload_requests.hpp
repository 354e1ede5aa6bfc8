#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/transaction.hpp"

#include <optional>
#include <string>

namespace restante {

// A client's Idempotency-Key, with what it stands for.
struct client_key {
    std::string text;
    digest32 fingerprint{};  // over the names, types and contents of the files
};

// What a key was used for the first time.
struct earlier_request {
    digest32 fingerprint{};
    std::string answer;
    timestamp files_expire_at{};
    bool expired = false;
};

// Rows about requests. Each upload transaction begins with a fence: a row under a key of our own, by which a
// lost COMMIT can be asked for, or made impossible, afterwards. A client's key is a second row of the same
// kind.
class upload_requests {
public:
    upload_requests(pq::connection_pool& db, std::chrono::microseconds ttl) : db_(db), ttl_(ttl) {}

    static std::string make_fence();

    // Its result is one row with the moment at which files of this transaction expire.
    void queue_fence(pq::transaction& tx, const uuid& workspace, const std::string& fence);

    // `answer` is sent again when the same request comes again. Fails the transaction with unique_violation
    // when the key was used before.
    void queue_key(pq::transaction& tx, const uuid& workspace, const client_key& key,
                   const std::string& answer);

    awaitable<result<std::optional<earlier_request>>> find(uuid workspace, std::string key);

    // Drops a key whose 48 hours are over before the sweeper does.
    awaitable<result<void>> forget_expired(uuid workspace, std::string key);

    // The truth about a COMMIT whose answer was lost: when the files expire if it happened, nothing if it did
    // not and now never will. Waits for a transaction that is still at work.
    awaitable<result<std::optional<timestamp>>> settle(uuid workspace, std::string fence);

private:
    pq::connection_pool& db_;
    std::chrono::microseconds ttl_;
};

}  // namespace restante
