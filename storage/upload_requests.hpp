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

// A name under which a request is stored once.
struct request_key {
    std::string text;
    // Over everything that makes two requests the same. Absent: the key alone decides.
    std::optional<digest32> fingerprint = {};
    std::chrono::microseconds lifetime = std::chrono::hours(48);

    // An Idempotency-Key, which its client chose: visible ASCII only.
    static request_key of_client(std::string text, const digest32& fingerprint);
    // The id of a message, of any characters and length.
    static request_key of_message(std::string_view message_id, std::chrono::microseconds lifetime);
};

// What a key was used for the first time.
struct earlier_request {
    std::optional<digest32> fingerprint;
    std::string answer;
    timestamp files_expire_at{};
    bool expired = false;     // the key's own time is over
    bool files_gone = false;  // the files of that answer have expired
};

// Rows about requests. Each transaction begins with a fence: a row under a key of our own, by which a lost
// COMMIT can be asked for, or made impossible, afterwards. The keys of clients are rows of the same kind.
class upload_requests {
public:
    upload_requests(pq::connection_pool& db, std::chrono::microseconds ttl) : db_(db), ttl_(ttl) {}

    static std::string make_fence();

    // Its result is one row with the moment at which files of this transaction expire. `lock_wait` is how
    // long the rest of the transaction may wait for a lock; the session's own limit when absent.
    void queue_fence(pq::transaction& tx, const uuid& workspace, const std::string& fence,
                     std::optional<std::chrono::milliseconds> lock_wait = {});

    // `answer` is sent again when the same request comes again. Fails the transaction with unique_violation
    // when the key was used before.
    void queue_key(pq::transaction& tx, const uuid& workspace, const request_key& key,
                   const std::string& answer, bool with_files);

    // What is found is as durable as a commit of this moment: where PostgreSQL waits for a synchronous
    // standby, so does this.
    awaitable<result<std::optional<earlier_request>>> find(uuid workspace, std::string key);

    // Deletes a key whose time is over before the sweeper does.
    awaitable<result<void>> forget_expired(uuid workspace, std::string key);

    // The truth about a COMMIT whose answer was lost: when the files expire if it happened, nothing if it did
    // not and now never will. Waits for a transaction that is still at work, and for the synchronous standby
    // if there is one, but not longer than `within`.
    awaitable<result<std::optional<timestamp>>> settle(uuid workspace, std::string fence,
                                                       std::chrono::milliseconds within);

private:
    pq::connection_pool& db_;
    std::chrono::microseconds ttl_;
};

}  // namespace restante
