// restante content move: brings the bytes of all files into one store, while servers run.
#include "core/memory_budget.hpp"
#include "server/commands/content.hpp"
#include "server/commands/content_session.hpp"
#include "server/commands/progress_line.hpp"
#include "server/spool/spool.hpp"
#include "storage/content/content_key.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cstdlib>
#include <iostream>
#include <limits>

namespace restante {

namespace {

namespace json = boost::json;

constexpr int page_size = 200;
constexpr int removal_patience = 150;  // seconds; a removal is claimed for two minutes
// One file is copied at a time, and the largest must fit: there are no others to share the disk with.
constexpr auto any_size = std::numeric_limits<std::uint64_t>::max();

struct tally {
    std::int64_t moved = 0;
    std::uint64_t bytes = 0;                  // of those
    std::vector<std::string> too_large = {};  // for a row
    std::vector<std::string> lost = {};       // their bytes are not what they should be
    std::vector<std::string> unreadable = {};

    bool all_is_well() const { return too_large.empty() && lost.empty() && unreadable.empty(); }
};

enum class outcome { moved, stays, too_large, lost, unreadable };

// Small files stay in their rows, whatever the store.
outcome plan(const content_row& row, content_place to, const content_policy& policy)
{
    if (to == content_place::inline_ && row.content.size > largest_file)
        return outcome::too_large;
    const bool small = row.content.size <= policy.inline_max;
    const auto target = small ? content_place::inline_ : to;
    return row.place == target ? outcome::stays : outcome::moved;
}

class mover {
public:
    mover(content_session on, const settings& config, content_place to)
        : on_(on),
          to_(to),
          memory_(config.body_memory),
          budget_(memory_, any_size, config.spool_dir)
    {
        if (to == content_place::directory)
            directory_ = store_directory{on.setup.directory, 0};
    }

    awaitable<result<outcome>> move(const content_row& row, progress_line& progress)
    {
        const auto planned = plan(row, to_, on_.stores.policy());
        if (planned != outcome::moved)
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
            co_return outcome::lost;
        if (target == content_place::inline_)
            co_return co_await into_row(row, *bytes);
        co_return co_await into_store(row, target, bytes);
    }

private:
    enum class fetched { whole, missing, unreadable };

    awaitable<result<fetched>> judge_failure(const content_row& row, error_code ec) const
    {
        if (ec == errc::content_lost || ec == errc::not_found)
            co_return fetched::missing;
        if (ec == errc::content_store_unavailable && co_await can_be_read(on_, row.place))
            co_return fetched::unreadable;
        co_return store_failed(on_, row.place, ec);
    }

    // Errors are those of the stores as such, and of our own copy.
    awaitable<result<fetched>> fetch(const content_row& row, spool& into, progress_line& progress)
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

    error_code copy_failed(const error_code& ec) const { return store_failed(on_, to_, ec); }

    // It was swept or moved meanwhile, or its bytes are gone or cannot be read.
    awaitable<result<outcome>> still_there(const content_row& row, fetched how)
    {
        const auto now = co_await on_.rows.find(row.content.file_id);
        if (!now)
            co_return now.error();
        const bool same = *now && (*now)->place == row.place && (*now)->content.key == row.content.key;
        if (!same)
            co_return outcome::stays;
        co_return how == fetched::missing ? outcome::lost : outcome::unreadable;
    }

    awaitable<result<outcome>> into_store(const content_row& row, content_place target,
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
        co_return *moved == 1 ? outcome::moved : outcome::stays;
    }

    // A file that comes back within the hour gets the key that it has left, whose removal may still be
    // queued, or under way.
    awaitable<error_code> keep_from_removal(content_place target, const std::string& key)
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

    awaitable<result<outcome>> into_row(const content_row& row, spool& bytes)
    {
        std::string text;
        std::vector<char> block(256 * 1024);
        while (text.size() < bytes.size()) {
            const auto piece = co_await bytes.read(text.size(), block);
            if (!piece)
                co_return piece.error();
            text.append(piece->begin(), piece->end());
        }
        const auto moved =
            co_await on_.rows.move(row, content_place::inline_, "", std::span<const char>(text));
        if (!moved)
            co_return moved.error();
        co_return *moved == 1 ? outcome::moved : outcome::stays;
    }

    content_session on_;
    content_place to_;
    memory_budget memory_;
    spool_budget budget_;
    std::optional<store_directory> directory_;
};

json::array as_array(const std::vector<std::string>& files)
{
    return json::array(files.begin(), files.end());
}

// What a dry run knows: nothing was read.
void print_plan(const tally& counted, bool as_json)
{
    if (as_json) {
        const json::object body{{"would_move", counted.moved},
                                {"bytes", counted.bytes},
                                {"too_large", as_array(counted.too_large)}};
        std::cout << json::serialize(body) << '\n';
        return;
    }
    for (const auto& each : counted.too_large)
        std::cout << "too_large " << each << '\n';
    std::cout << "would_move " << counted.moved << "\nbytes " << counted.bytes << "\ntoo_large "
              << counted.too_large.size() << '\n';
}

void print_json(const tally& counted)
{
    const json::object body{{"moved", counted.moved},
                            {"too_large", as_array(counted.too_large)},
                            {"lost", as_array(counted.lost)},
                            {"unreadable", as_array(counted.unreadable)}};
    std::cout << json::serialize(body) << '\n';
}

void print_text(const tally& counted)
{
    for (const auto& each : counted.too_large)
        std::cout << "too_large " << each << '\n';
    for (const auto& each : counted.lost)
        std::cout << "lost " << each << '\n';
    for (const auto& each : counted.unreadable)
        std::cout << "unreadable " << each << '\n';
    std::cout << "moved " << counted.moved << "\ntoo_large " << counted.too_large.size() << "\nlost "
              << counted.lost.size() << "\nunreadable " << counted.unreadable.size() << '\n';
}

void count(tally& into, outcome how, const stored_content& file)
{
    switch (how) {
        case outcome::moved:
            into.moved += 1;
            into.bytes += file.size;
            break;
        case outcome::stays: break;
        case outcome::too_large: into.too_large.push_back(to_string(file.file_id)); break;
        case outcome::lost: into.lost.push_back(to_string(file.file_id)); break;
        case outcome::unreadable: into.unreadable.push_back(to_string(file.file_id)); break;
    }
}

awaitable<result<void>> move_rows(content_session& on, const command& asked, content_place to, tally& counted)
{
    if (!on.stores.find(to))
        co_return store_failed(on, to, RESTANTE_ERROR(errc::content_store_unavailable));
    const auto total = co_await on.rows.totals();
    if (!total)
        co_return total.error();
    mover work(on, asked.config, to);
    const char* doing = asked.own.dry_run ? "counting" : "moving";
    progress_line progress(doing, {total->files, total->bytes}, !asked.own.json);
    for (uuid after{};;) {
        const auto page = co_await on.rows.page(after, page_size);
        if (!page)
            co_return page.error();
        if (page->empty())
            co_return result<void>();
        for (const auto& row : *page) {
            result<outcome> how = plan(row, to, on.stores.policy());
            if (!asked.own.dry_run)
                how = co_await work.move(row, progress);
            if (!how)
                co_return how.error();
            count(counted, *how, row.content);
            progress.finish_file(row.content.size);
        }
        after = page->back().content.file_id;
    }
}

awaitable<result<int>> move_all(content_session on, const command& asked, content_place to)
{
    tally counted;
    const auto moved = co_await move_rows(on, asked, to, counted);
    if (asked.own.dry_run && moved) {
        print_plan(counted, asked.own.json);
        co_return EXIT_SUCCESS;
    }
    // What was moved before it broke off stays moved.
    if (!asked.own.json && !asked.own.dry_run)
        print_text(counted);
    if (!moved)
        co_return moved.error();
    if (asked.own.json)
        print_json(counted);
    co_return counted.all_is_well() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int run_content_move(const command& asked)
{
    const auto to = *content_place_named(asked.own.place);
    return with_content(asked.config, [&](content_session on) { return move_all(on, asked, to); });
}

}  // namespace restante
