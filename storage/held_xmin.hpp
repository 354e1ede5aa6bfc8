#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>

namespace restante {

// How many transactions have begun since the oldest snapshot or transaction that VACUUM has to respect: of a
// session, a replication slot or a prepared transaction. What was changed or deleted since then stays in the tables, and
// each upload to a workspace steps over the former versions of its head. Sessions of other roles are seen by
// roles with pg_read_all_stats only.
awaitable<result<std::int64_t>> read_held_transactions(pq::connection_pool& db);

}  // namespace restante
