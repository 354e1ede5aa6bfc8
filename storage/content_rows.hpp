#pragma once

#include "storage/content/content_store.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

// Which transactions can still be seen to commit: everything that had begun at some moment has ended once
// `oldest_running` of a later moment is at least `next` of that one.
struct transaction_horizon {
    std::int64_t oldest_running = 0;
    std::int64_t next = 0;
};

struct keys_without_row {
    std::vector<std::string> keys;
    transaction_horizon horizon;
};

// How much lies in one place.
struct stored_figures {
    std::string place;
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};

struct content_totals {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};

// What a row says of the bytes of its file.
struct content_row {
    content_place place = content_place::inline_;
    stored_content content;
};

// The rows of files as those see them who look after their bytes.
class content_rows {
public:
    explicit content_rows(pq::connection_pool& db) : db_(db) {}

    // Those of the keys that no row names, among the transactions that have committed, and that are not
    // queued for removal.
    awaitable<result<keys_without_row>> without_row(std::span<const std::string> keys);

    // The database's clock.
    awaitable<result<timestamp>> now();

    // Since when rows of this database can have named bytes in a store.
    awaitable<result<timestamp>> beginning();

    awaitable<result<std::vector<stored_figures>>> figures();

    // Of all files, wherever their bytes are.
    awaitable<result<content_totals>> totals();

    // Up to `limit` rows in the order of their ids, after one.
    awaitable<result<std::vector<content_row>>> page(uuid after, int limit);

    // The row as it is now; nothing when it is gone.
    awaitable<result<std::optional<content_row>>> find(uuid file);

    // Takes a key out of the queue of removals, because bytes are about to be stored under it again. How many
    // removals of it are under way and cannot be withdrawn.
    awaitable<result<std::int64_t>> withdraw_removal(content_place place, std::string key);

    // Makes the row say that its bytes are elsewhere now, and queues those that are left behind. How many
    // rows that was: none when it is gone or somebody else has moved it. `bytes` are for the row itself.
    awaitable<result<std::int64_t>> move(const content_row& from, content_place to, std::string key,
                                         std::optional<std::span<const char>> bytes);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
