#include "storage/content_removals.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

// Objects are removed once this has committed: under --require-synchronous a standby then has it, and with it
// the end of their rows.
const statement claim_removals{
    "claim_content_removals",
    "UPDATE content_removals SET claimed_until = now() + interval '2 minutes' WHERE id = ANY (ARRAY("
    "SELECT id FROM content_removals WHERE content_place = $1::text "
    "AND queued_at <= now() - $2::int8 * interval '1 second' "
    "AND (claimed_until IS NULL OR claimed_until < now()) ORDER BY id LIMIT $3::int8 "
    "FOR UPDATE SKIP LOCKED)) RETURNING id, content_key",
    promised};

const statement finish_removals{"finish_content_removals",
                                "DELETE FROM content_removals WHERE id = ANY ($1::int8[])"};

const statement count_removals{"count_content_removals", "SELECT count(*) FROM content_removals"};

}  // namespace

awaitable<result<std::vector<content_removal>>> content_removals::claim(content_place place,
                                                                        std::chrono::seconds delay, int limit)
{
    const pq::parameters with(name_of(place), std::int64_t{delay.count()}, std::int64_t{limit});
    const auto rows = co_await db_.execute(claim_removals, with);
    if (!rows)
        co_return rows.error();
    std::vector<content_removal> claimed;
    for (int i = 0; i < rows->size(); ++i) {
        auto row = (*rows)[i].into<content_removal, std::int64_t, std::string>();
        if (!row)
            co_return row.error();
        claimed.push_back(std::move(*row));
    }
    co_return claimed;
}

awaitable<result<void>> content_removals::finish(std::span<const content_removal> removed)
{
    std::vector<std::int64_t> ids;
    for (const auto& each : removed)
        ids.push_back(each.id);
    const pq::parameters with{std::span<const std::int64_t>(ids)};
    const auto done = co_await db_.execute(finish_removals, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<std::int64_t>> content_removals::waiting()
{
    const auto rows = co_await db_.execute(count_removals);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<std::int64_t>();
}

}  // namespace restante
