#include "server/commands/content_mover.hpp"

#include "storage/content/content_key.hpp"

#include <limits>

namespace restante {

namespace {

constexpr int removal_patience = 150;  // seconds; a removal is claimed for two minutes
// One file is copied at a time, and the largest must fit: there are no others to share the disk with.
constexpr auto any_size = std::numeric_limits<std::uint64_t>::max();

}  // namespace

move_outcome plan_move(const content_row& row, content_place to, const content_policy& policy)
{
    if (to == content_place::inline_ && row.content.size > largest_file)
        return move_outcome::too_large;
    const bool small = row.content.size <= policy.inline_max;
    const auto target = small ? content_place::inline_ : to;
    return row.place == target ? move_outcome::stays : move_outcome::moved;
}

content_mover::content_mover(content_session on, const settings& config, content_place to)
    : on_(on), to_(to), memory_(config.body_memory), budget_(memory_, any_size, config.spool_dir)
{
    if (to == content_place::directory)
        directory_ = store_directory{on.setup.directory, 0};
}

awaitable<result<move_outcome>> content_mover::move(const content_row& row, progress_line& progress)
{
    const auto planned = plan_move(row, to_, on_.stores.policy());
    if (planned != move_outcome::moved)
        co_return planned;
    const auto target = row.content.size <= on_.stores.policy().inline_max ? content_place::inline_ : to_;
    const auto claim = std::make_shared<disk_claim>(budget_, row.content.workspace_id, directory_);
    const auto bytes = std::make_shared<spool>(claim);
    const auto got = co_await fetch(row, *bytes, progress);
    if (!got)
        co_return got.error();
    if (*got != fetched::whole)
        co_return co_await still_there(row, *got);
    if (bytes->digest() != row.content.sha256)
        co_return move_outcome::lost;
    if (target == content_place::inline_)
        co_return co_await into_row(row, *bytes);
    co_return co_await into_store(row, target, bytes);
}

awaitable<result<content_mover::fetched>> content_mover::judge_failure(const content_row& row,
                                                                       error_code ec) const
{
    if (ec == errc::content_lost || ec == errc::not_found)
        co_return fetched::missing;
    if (ec == errc::content_store_unavailable && co_await can_be_read(on_, row.place))
        co_return fetched::unreadable;
    co_return store_failed(on_, row.place, ec);
}

// Errors are those of the stores as such, and of our own copy.
awaitable<result<content_mover::fetched>> content_mover::fetch(const content_row& row, spool& into,
                                                               progress_line& progress)
{
    const content_part whole{0, row.content.size};
    auto reader = co_await on_.stores.open(row.place, row.content, whole);
    if (!reader)
        co_return co_await judge_failure(row, reader.error());
    while (into.size() < row.content.size) {
        const auto piece = co_await (*reader)->next();
        if (!piece)
            co_return co_await judge_failure(row, piece.error());
        progress.advance(piece->size());
        if (auto ec = co_await into.write(*piece))
            co_return copy_failed(ec);
    }
    if (auto ec = co_await into.finish())
        co_return copy_failed(ec);
    co_return fetched::whole;
}

// It was swept or moved meanwhile, or its bytes are gone or cannot be read.
awaitable<result<move_outcome>> content_mover::still_there(const content_row& row, fetched how)
{
    const auto now = co_await on_.rows.find(row.content.file_id);
    if (!now)
        co_return now.error();
    const bool same = *now && (*now)->place == row.place && (*now)->content.key == row.content.key;
    if (!same)
        co_return move_outcome::stays;
    co_return how == fetched::missing ? move_outcome::lost : move_outcome::unreadable;
}

awaitable<result<move_outcome>> content_mover::into_store(const content_row& row, content_place target,
                                                          std::shared_ptr<spool> bytes)
{
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    // Never a key that was used before: it may be queued for removal.
    const std::vector<content_to_store> one{
        {make_content_key(make_uuid_v7(), now), bytes, row.content.sha256}};
    const std::vector<std::string> keys{one.front().key};
    if (auto ec = co_await keep_from_removal(target, keys.front()))
        co_return ec;
    if (auto ec = co_await on_.stores.write(target, one))
        co_return store_failed(on_, target, ec);
    const auto moved = co_await on_.rows.move(row, target, keys.front(), std::nullopt);
    if (!moved)
        co_return moved.error();  // the row may name them by now; if not, the janitor finds them
    if (*moved == 0)
        co_await on_.stores.remove(target, keys);
    co_return *moved == 1 ? move_outcome::moved : move_outcome::stays;
}

// A file that comes back within the hour gets the key that it has left, whose removal may still be
// queued, or under way.
awaitable<error_code> content_mover::keep_from_removal(content_place target, const std::string& key)
{
    steady_timer pause(co_await asio::this_coro::executor);
    for (int tries = 0; tries < removal_patience; ++tries) {
        const auto under_way = co_await on_.rows.withdraw_removal(target, key);
        if (!under_way)
            co_return under_way.error();
        if (*under_way == 0)
            co_return error_code{};
        pause.expires_after(std::chrono::seconds(1));
        co_await pause.async_wait(use_await);
    }
    co_return store_failed(on_, target, RESTANTE_ERROR(errc::content_store_unavailable));
}

awaitable<result<move_outcome>> content_mover::into_row(const content_row& row, spool& bytes)
{
    std::string text;
    std::vector<char> block(256 * 1024);
    while (text.size() < bytes.size()) {
        const auto piece = co_await bytes.read(text.size(), block);
        if (!piece)
            co_return piece.error();
        text.append(piece->begin(), piece->end());
    }
    const auto moved = co_await on_.rows.move(row, content_place::inline_, "", std::span<const char>(text));
    if (!moved)
        co_return moved.error();
    co_return *moved == 1 ? move_outcome::moved : move_outcome::stays;
}

}  // namespace restante
