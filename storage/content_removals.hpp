#pragma once

#include "storage/content/content_place.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

struct content_removal {
    std::int64_t id = 0;
    std::string key;
};

// The queue of keys whose rows are gone: a trigger fills it, in the transaction that removes the row.
class content_removals {
public:
    explicit content_removals(pq::connection_pool& db) : db_(db) {}

    // Up to `limit` that were queued longer ago than `delay`, for this caller alone for two minutes.
    awaitable<result<std::vector<content_removal>>> claim(content_place place, std::chrono::seconds delay,
                                                          int limit);

    // Their bytes are gone.
    awaitable<result<void>> finish(std::span<const content_removal> removed);

    awaitable<result<std::int64_t>> waiting();

private:
    pq::connection_pool& db_;
};

}  // namespace restante
