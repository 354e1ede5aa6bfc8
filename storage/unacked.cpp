#include "storage/unacked.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

const statement limit_time{"unacked_limit", "SELECT set_config('statement_timeout', '2s', true)"};

const statement read_figures{"unacked_figures",
                             "SELECT files, bytes, never_fetched, "
                             "greatest(0, extract(epoch FROM clock_timestamp() - oldest))::float8, estimated "
                             "FROM unacked_uploads()"};

}  // namespace

awaitable<result<unacked_uploads>> read_unacked_uploads(pq::connection_pool& db)
{
    auto tx = co_await db.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    tx->queue(limit_time, none);
    tx->queue(read_figures, none);
    auto results = co_await tx->commit();
    if (!results)
        co_return results.error();
    co_return results->back()[0]
        .into<unacked_uploads, std::int64_t, std::int64_t, std::int64_t, std::optional<double>, bool>();
}

}  // namespace restante
