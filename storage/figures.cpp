#include "storage/figures.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

const statement write_point{
    "figures_write",
    "INSERT INTO server_figures (slot, server, figures, buckets) VALUES ($1::timestamptz, $2::uuid, $3::int8[],"
    " $4::int8[]) ON CONFLICT (slot, server) DO UPDATE SET figures = excluded.figures, buckets = excluded.buckets"};

// By our own slots and not by the database's clock: both belong to the same series.
const statement forget_old{"figures_forget", "DELETE FROM server_figures WHERE slot < $1::timestamptz"};

const statement read_points{"figures_read",
                            "SELECT slot, figures, buckets FROM server_figures WHERE slot >= $1::timestamptz"
                            " ORDER BY slot, server LIMIT $2::int4"};

}  // namespace

awaitable<result<void>> figures_store::write(uuid server, const figures_row& point)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters row(point.slot, server, std::span<const std::int64_t>(point.figures),
                             std::span<const std::int64_t>(point.buckets));
    const pq::parameters oldest(point.slot - kept);
    tx->queue(write_point, row);
    tx->queue(forget_old, oldest);
    const auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<std::vector<figures_row>>> figures_store::read(timestamp since)
{
    const pq::parameters with(since, most_rows);
    const auto rows = co_await db_.execute(read_points, with);
    if (!rows)
        co_return rows.error();
    co_return rows->all<figures_row, timestamp, std::vector<std::int64_t>, std::vector<std::int64_t>>();
}

}  // namespace restante
