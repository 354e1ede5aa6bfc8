#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"

#include <optional>

namespace restante {

// Files that are not acked yet, in the whole database.
struct unacked_uploads {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::int64_t never_fetched = 0;
    std::optional<double> oldest_seconds;  // the age of the file that expires first
    bool estimated = false;                // from a sample of the table: there are more than 10,000

    std::int64_t fetched() const { return files - never_fetched; }
};

// One query whose cost does not grow with the table (see unacked_uploads() in sql/), and which times out
// after two seconds with database_timeout rather than burden a database in trouble.
awaitable<result<unacked_uploads>> read_unacked_uploads(pq::connection_pool& db);

}  // namespace restante
