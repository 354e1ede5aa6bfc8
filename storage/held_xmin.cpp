#include "storage/held_xmin.hpp"

namespace restante {

namespace {

// A session that has written and is idle has no snapshot, and holds rows by its own transaction. Those of
// other databases hold none of ours; walsenders have no database, and hold those of all.
const statement held_transactions{
    "held_transactions",
    "SELECT coalesce(max(held), 0)::int8 FROM ("
    "SELECT greatest(age(backend_xmin), age(backend_xid)) AS held FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datid IS NULL) "
    "UNION ALL SELECT age(xmin) FROM pg_replication_slots WHERE xmin IS NOT NULL "
    "UNION ALL SELECT age(transaction) FROM pg_prepared_xacts WHERE database = current_database()) AS holders"};

}  // namespace

awaitable<result<std::int64_t>> read_held_transactions(pq::connection_pool& db)
{
    auto found = co_await db.execute(held_transactions);
    if (!found)
        co_return found.error();
    co_return (*found)[0][0].as<std::int64_t>();
}

}  // namespace restante
