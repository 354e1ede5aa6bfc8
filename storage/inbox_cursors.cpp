#include "storage/inbox_cursors.hpp"

namespace restante {

namespace {

const statement read_cursor{"read_cursor",
                            "SELECT last_acked_seq FROM inbox_cursors WHERE workspace_id = $1::uuid"};

const statement advance_cursor{
    "advance_cursor",
    "INSERT INTO inbox_cursors AS c (workspace_id, last_acked_seq) VALUES ($1::uuid, least($2::int8, "
    "coalesce((SELECT seq FROM activity_heads WHERE workspace_id = $1::uuid), 0))) "
    "ON CONFLICT (workspace_id) DO UPDATE "
    "SET last_acked_seq = greatest(c.last_acked_seq, excluded.last_acked_seq), updated_at = now() "
    "RETURNING last_acked_seq",
    promised};

}  // namespace

awaitable<result<std::int64_t>> inbox_cursors::read(uuid workspace)
{
    const pq::parameters with(workspace);
    auto rows = co_await db_.execute(read_cursor, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return 0;
    co_return (*rows)[0][0].as<std::int64_t>();
}

awaitable<result<std::int64_t>> inbox_cursors::advance(uuid workspace, std::int64_t seq)
{
    const pq::parameters with(workspace, seq);
    auto rows = co_await db_.execute(advance_cursor, with, workspace);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<std::int64_t>();
}

}  // namespace restante
