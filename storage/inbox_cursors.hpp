#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>

namespace restante {

// How far each workspace reports to have read, for clients that don't store it themselves. Both calls give
// the number of the last row acked, 0 when none was.
class inbox_cursors {
public:
    explicit inbox_cursors(pq::connection_pool& db) : db_(db) {}

    awaitable<result<std::int64_t>> read(uuid workspace);

    // Only ever forward, and never past the newest row: a number from the future would hide later rows.
    awaitable<result<std::int64_t>> advance(uuid workspace, std::int64_t seq);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
