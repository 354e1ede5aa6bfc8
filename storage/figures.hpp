#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"

#include <vector>

namespace restante {

// What one server did in the ten seconds from `slot` on. The meaning of the numbers is not known here.
struct figures_row {
    timestamp slot{};
    std::vector<std::int64_t> figures;
    std::vector<std::int64_t> buckets;
};

// The figures of all servers, a row for each and every ten seconds. Errors are those of the pool.
class figures_store {
public:
    static constexpr std::chrono::hours kept{3};
    // More rows than this are not read: twenty servers for three hours.
    static constexpr std::int32_t most_rows = 20 * 3 * 360;

    explicit figures_store(pq::connection_pool& db) : db_(db) {}

    // Writes a server's point and removes what is too old, whosever it was.
    awaitable<result<void>> write(uuid server, const figures_row& point);

    // Those that began at `since` or later, oldest first; several of one slot follow each other.
    awaitable<result<std::vector<figures_row>>> read(timestamp since);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
