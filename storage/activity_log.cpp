#include "storage/activity_log.hpp"

namespace restante {

namespace {

const statement publish{
    "publish_counted",
    "SELECT seq, created_at FROM publish_counted("
    "$1::uuid[], $2::int8[], $3::int8, $4::int8, $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], "
    "$10::uuid[], $11::uuid[], $12::text[], $13::text[], $14::text[], $15::text[], $16::int8[], "
    "$17::text[])"};

// Heads that exist and that another transaction has locked.
const statement held_heads{
    "held_heads",
    "SELECT workspace_id FROM activity_heads WHERE workspace_id = ANY ($1::uuid[]) EXCEPT "
    "SELECT workspace_id FROM (SELECT workspace_id FROM activity_heads WHERE workspace_id = ANY ($1::uuid[]) "
    "FOR UPDATE SKIP LOCKED) AS free"};

const statement find_numbers{
    "find_numbers", "SELECT id, seq, created_at FROM activity_logs WHERE id = ANY($1::uuid[]) ORDER BY seq"};

// One column of all rows, in the form of an array parameter; left NULL when no row has a value, which is most
// of them for an upload.
template <class Value, class Member>
void add_column(pq::parameters& to, const activity_rows& rows, Member member)
{
    std::vector<std::optional<Value>> column(rows.size());
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto& value = rows[i]->what.*member) {
            column[i] = *value;
            any = true;
        }
    }
    if (any)
        to.add(std::span<const std::optional<Value>>(column));
    else
        to.add(std::nullopt);
}

template <class Member>
void add_text(pq::parameters& to, const activity_rows& rows, Member member)
{
    add_column<std::string_view>(to, rows, member);
}

template <class Member>
void add_required_text(pq::parameters& to, const activity_rows& rows, Member member)
{
    std::vector<std::string_view> column;
    for (const auto& row : rows)
        column.push_back(row->what.*member);
    to.add(std::span<const std::string_view>(column));
}

std::vector<uuid> ids_of(const activity_rows& rows, uuid activity::* which)
{
    std::vector<uuid> ids;
    ids.reserve(rows.size());
    for (const auto& row : rows)
        ids.push_back(row->what.*which);
    return ids;
}

template <class T>
void add_unless_empty(pq::parameters& to, std::span<const std::optional<T>> values)
{
    if (values.empty())
        to.add(std::nullopt);
    else
        to.add(values);
}

void queue_publish(pq::transaction& tx, const activity_rows& rows,
                   std::span<const std::optional<uuid>> tokens,
                   std::span<const std::optional<std::int64_t>> file_bytes, quota_limits limits)
{
    const auto workspaces = ids_of(rows, &activity::workspace_id);
    const auto ids = ids_of(rows, &activity::id);
    pq::parameters with;
    add_unless_empty(with, tokens);
    add_unless_empty(with, file_bytes);
    with.add(limits.bytes);
    with.add(limits.files);
    with.add(std::span<const uuid>(workspaces));
    with.add(std::span<const uuid>(ids));
    add_required_text(with, rows, &activity::activity_type);
    add_text(with, rows, &activity::method);
    add_text(with, rows, &activity::summary);
    add_column<uuid>(with, rows, &activity::source_id);
    add_column<uuid>(with, rows, &activity::target_id);
    add_text(with, rows, &activity::request_body);
    add_text(with, rows, &activity::response_body);
    add_required_text(with, rows, &activity::status);
    add_text(with, rows, &activity::error_detail);
    add_column<std::int64_t>(with, rows, &activity::duration_ms);
    add_text(with, rows, &activity::tool_trace);
    tx.queue(publish, with);
}

}  // namespace

void activity_log::log_activity_tx(pq::transaction& tx, activity_rows rows,
                                   std::span<const std::optional<uuid>> tokens,
                                   std::span<const std::optional<std::int64_t>> file_bytes)
{
    const std::size_t place = tx.queued();
    queue_publish(tx, rows, tokens, file_bytes, limits_);
    tx.after_commit([this, rows = std::move(rows), place](std::span<const pq::result_set> results) {
        const auto& numbers = results[place];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto given = numbers[static_cast<int>(i)].as<std::int64_t, timestamp>();
            if (!given)
                continue;  // an event is only a hint: the feed itself has the row
            std::tie(rows[i]->seq, rows[i]->created_at) = *given;
            listener_.on_commit(rows[i]);
        }
    });
}

awaitable<result<void>> activity_log::log_activity(activity row)
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    auto numbered = std::make_shared<feed_entry>();
    numbered->what = std::move(row);
    log_activity_tx(*tx, {std::move(numbered)});
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<void> activity_log::notify_committed(activity_rows rows)
{
    const auto ids = ids_of(rows, &activity::id);
    const pq::parameters with{std::span<const uuid>(ids)};
    auto found = co_await db_.execute(find_numbers, with);
    for (int i = 0; found && i < found->size(); ++i) {
        const auto numbers = (*found)[i].as<uuid, std::int64_t, timestamp>();
        if (!numbers)
            continue;
        const auto& [id, seq, created_at] = *numbers;
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r->what.id == id; });
        if (row == rows.end())
            continue;
        (*row)->seq = seq;
        (*row)->created_at = created_at;
        listener_.on_commit(*row);
    }
}

awaitable<result<std::vector<uuid>>> activity_log::find_held_heads(std::span<const uuid> workspaces)
{
    const pq::parameters with(workspaces);
    auto rows = co_await db_.execute(held_heads, with);
    if (!rows)
        co_return rows.error();
    std::vector<uuid> held;
    for (int i = 0; i < rows->size(); ++i)
        held.push_back((*rows)[i][0].as<uuid>().value());
    co_return held;
}

}  // namespace restante
