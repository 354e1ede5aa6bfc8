#include "storage/quota_store.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

const statement read_quota{"read_quota",
                           "SELECT waiting.bytes, waiting.files, h.max_waiting_bytes, h.max_waiting_files "
                           "FROM workspaces AS w LEFT JOIN activity_heads AS h ON h.workspace_id = w.id, "
                           "count_waiting(w.id) AS waiting WHERE w.id = $1::uuid"};

const statement estimate_quota{
    "estimate_quota",
    "SELECT coalesce(h.waiting_bytes, 0), coalesce(h.waiting_files, 0), h.max_waiting_bytes, "
    "h.max_waiting_files FROM workspaces AS w LEFT JOIN activity_heads AS h ON h.workspace_id = w.id "
    "WHERE w.id = $1::uuid"};

const statement change_quota{
    "change_quota", "SELECT set_workspace_quota($1::uuid, $2::bool, $3::int8, $4::bool, $5::int8)", promised};

const statement limit_time{"fullest_limit", "SELECT set_config('statement_timeout', '2s', true)"};
const statement find_fullest{"fullest_workspace",
                             "SELECT workspace, share FROM fullest_workspace($1::int8, $2::int8) "
                             "WHERE workspace IS NOT NULL"};

const statement recount{"recount_waiting",
                        "SELECT reached FROM recount_waiting($1::int8, $2::int8, $3::uuid)"};

const statement find_all_waiting{"all_waiting",
                                 "SELECT workspace_id, sum(size_bytes)::int8, count(*) FROM pending_uploads "
                                 "WHERE acked_at IS NULL AND expires_at > now() GROUP BY workspace_id"};

}  // namespace

awaitable<result<workspace_quota>> quota_store::read_with(const statement& what, uuid workspace)
{
    const pq::parameters with(workspace);
    const auto rows = co_await db_.execute(what, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    using number = std::int64_t;
    const auto values = (*rows)[0].as<number, number, std::optional<number>, std::optional<number>>();
    if (!values)
        co_return values.error();
    const auto& [bytes, files, own_bytes, own_files] = *values;
    co_return workspace_quota{
        .used = {bytes, files},
        .limits = {own_bytes.value_or(defaults_.bytes), own_files.value_or(defaults_.files)},
        .own = {own_bytes, own_files}};
}

awaitable<result<workspace_quota>> quota_store::read(uuid workspace)
{
    return read_with(read_quota, workspace);
}

awaitable<result<workspace_quota>> quota_store::estimate(uuid workspace)
{
    return read_with(estimate_quota, workspace);
}

awaitable<result<void>> quota_store::change(uuid workspace, quota_change what)
{
    const pq::parameters with(workspace, what.bytes.has_value(), what.bytes.value_or(std::nullopt),
                              what.files.has_value(), what.files.value_or(std::nullopt));
    const auto rows = co_await db_.execute(change_quota, with, workspace);
    if (!rows)
        co_return rows.error();
    const auto known = (*rows)[0][0].as<bool>();
    if (!known)
        co_return known.error();
    if (!*known)
        co_return RESTANTE_ERROR(errc::workspace_not_found);
    co_return result<void>();
}

awaitable<result<std::optional<fullest_workspace>>> quota_store::fullest()
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    const pq::parameters limits(defaults_.bytes, defaults_.files);
    tx->queue(limit_time, none);
    tx->queue(find_fullest, limits);
    const auto results = co_await tx->commit();
    if (!results)
        co_return results.error();
    if (results->back().empty())
        co_return std::optional<fullest_workspace>{};
    const auto found = results->back()[0].into<fullest_workspace, uuid, double>();
    if (!found)
        co_return found.error();
    co_return std::optional(*found);
}

awaitable<error_code> quota_store::recount_some()
{
    const pq::parameters with(defaults_.bytes, defaults_.files, recounted_to_);
    const auto rows = co_await db_.execute(recount, with);
    if (!rows)
        co_return rows.error();
    const auto reached = (*rows)[0][0].as<std::optional<uuid>>();
    if (!reached)
        co_return reached.error();
    recounted_to_ = reached->value_or(uuid{});
    co_return error_code{};
}

awaitable<result<std::vector<waiting_for>>> quota_store::all_waiting()
{
    const auto rows = co_await db_.execute(find_all_waiting);
    if (!rows)
        co_return rows.error();
    std::vector<waiting_for> all;
    for (int i = 0; i < rows->size(); ++i) {
        const auto values = (*rows)[i].as<uuid, std::int64_t, std::int64_t>();
        if (!values)
            co_return values.error();
        const auto& [workspace, bytes, files] = *values;
        all.push_back({workspace, {bytes, files}});
    }
    co_return all;
}

}  // namespace restante
