// restante content check: are the bytes of every file where its row says, and does every byte have a row?
#include "server/commands/content.hpp"
#include "server/commands/content_orphans.hpp"
#include "server/commands/progress_line.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cstdlib>
#include <iostream>
#include <map>

namespace restante {

namespace {

namespace json = boost::json;

constexpr int page_size = 200;

// Of the rows that name a store.
struct store_count {
    std::int64_t files = 0;
    std::int64_t missing = 0;
};

struct findings {
    std::int64_t files = 0;
    std::uint64_t bytes = 0;
    std::map<content_place, store_count> stores;
    std::vector<std::string> missing;
    std::vector<std::string> damaged;
    std::vector<std::string> unreadable;
    std::vector<std::string> orphans;
    std::size_t removed = 0;

    bool all_is_well() const
    {
        return missing.empty() && damaged.empty() && unreadable.empty() && orphans.size() == removed;
    }
};

enum class verdict { sound, missing, damaged, unreadable };

// One file that cannot be read is a finding, a store that is away ends the command.
awaitable<result<verdict>> judge_failure(const content_session& on, content_place place, error_code ec)
{
    if (ec == errc::content_store_unavailable && co_await can_be_read(on, place))
        co_return verdict::unreadable;
    co_return store_failed(on, place, ec);
}

awaitable<result<verdict>> read_and_compare(content_session& on, const content_row& row,
                                            progress_line& progress)
{
    const content_part whole{0, row.content.size};
    auto reader = co_await on.stores.open(row.place, row.content, whole);
    if (!reader && (reader.error() == errc::content_lost || reader.error() == errc::not_found))
        co_return verdict::missing;
    if (!reader)
        co_return co_await judge_failure(on, row.place, reader.error());
    sha256 hash;
    for (std::uint64_t done = 0; done < row.content.size;) {
        const auto piece = co_await (*reader)->next();
        if (!piece && piece.error() == errc::content_lost)
            co_return verdict::damaged;  // it is there: it was opened
        if (!piece)
            co_return co_await judge_failure(on, row.place, piece.error());
        hash.update(*piece);
        done += piece->size();
        progress.advance(piece->size());
    }
    co_return hash.finish() == row.content.sha256 ? verdict::sound : verdict::damaged;
}

// A row may go, or its bytes move, while it is looked at: then it is looked at again.
awaitable<result<verdict>> check_row(content_session& on, content_row row, progress_line& progress)
{
    for (;;) {
        const auto seen = co_await read_and_compare(on, row, progress);
        if (!seen || *seen == verdict::sound)
            co_return seen;
        auto now = co_await on.rows.find(row.content.file_id);
        if (!now)
            co_return now.error();
        if (!*now)
            co_return verdict::sound;
        if ((*now)->place == row.place && (*now)->content.key == row.content.key)
            co_return seen;
        row = std::move(**now);
    }
}

awaitable<result<void>> check_rows(content_session& on, findings& found, bool quiet)
{
    const auto total = co_await on.rows.totals();
    if (!total)
        co_return total.error();
    progress_line progress("checking", {total->files, total->bytes}, !quiet);
    for (uuid after{};;) {
        const auto page = co_await on.rows.page(after, page_size);
        if (!page)
            co_return page.error();
        if (page->empty())
            co_return result<void>();
        for (const auto& row : *page) {
            const auto seen = co_await check_row(on, row, progress);
            if (!seen)
                co_return seen.error();
            found.files += 1;
            found.bytes += row.content.size;
            auto& store = found.stores[row.place];
            store.files += 1;
            store.missing += *seen == verdict::missing;
            if (*seen == verdict::missing)
                found.missing.push_back(to_string(row.content.file_id));
            if (*seen == verdict::damaged)
                found.damaged.push_back(to_string(row.content.file_id));
            if (*seen == verdict::unreadable)
                found.unreadable.push_back(to_string(row.content.file_id));
            progress.finish_file(row.content.size);
        }
        after = page->back().content.file_id;
    }
}

awaitable<result<void>> check_orphans(content_session& on, content_place place, findings& found,
                                      const own_options& own)
{
    auto suspects = co_await find_orphans(on, place, own.json);
    if (!suspects)
        co_return suspects.error();
    for (const auto& each : *suspects)
        found.orphans.push_back(std::string(name_of(place)) + ' ' + each.key);
    if (!own.repair || suspects->empty())
        co_return result<void>();
    if (const auto why = on.stores.keeps_leftovers(place)) {
        std::cerr << suspects->size()
                  << " orphans were not removed, because they may belong to another database: " << *why
                  << ".\n";
        co_return result<void>();
    }
    const auto all = suspects->size();
    const auto left = co_await remove_orphans(on, place, std::move(*suspects), own.json);
    if (!left)
        co_return left.error();
    found.removed += all - left->undecided.size() - left->kept;
    if (left->kept > 0)
        std::cerr << left->kept << " orphans could not be removed from the store.\n";
    if (!left->undecided.empty())
        std::cerr << left->undecided.size()
                  << " orphans were not removed: a transaction that may still name them is "
                  << "running. Is a synchronous standby away? Try again later.\n";
    co_return result<void>();
}

json::array as_array(const std::vector<std::string>& texts)
{
    json::array out;
    for (const auto& each : texts)
        out.emplace_back(each);
    return out;
}

void print_json(const findings& found)
{
    const json::object body{{"files", found.files},
                            {"bytes", found.bytes},
                            {"missing", as_array(found.missing)},
                            {"damaged", as_array(found.damaged)},
                            {"unreadable", as_array(found.unreadable)},
                            {"orphans", as_array(found.orphans)},
                            {"orphans_removed", found.removed}};
    std::cout << json::serialize(body) << '\n';
}

void print_findings(const findings& found)
{
    for (const auto& each : found.missing)
        std::cout << "missing " << each << '\n';
    for (const auto& each : found.damaged)
        std::cout << "damaged " << each << '\n';
    for (const auto& each : found.unreadable)
        std::cout << "unreadable " << each << '\n';
    for (const auto& each : found.orphans)
        std::cout << "orphan " << each << '\n';
}

void print_counts(const findings& found)
{
    std::cout << "files " << found.files << "\nbytes " << found.bytes << "\nmissing " << found.missing.size()
              << "\ndamaged " << found.damaged.size() << "\nunreadable " << found.unreadable.size()
              << "\norphans " << found.orphans.size() << "\norphans_removed " << found.removed << '\n';
}

// More likely than the loss of all of them.
void ask_about_settings(const findings& found)
{
    for (const auto& [place, count] : found.stores)
        if (count.missing == count.files)
            std::cerr << "None of the files in the content store `" << name_of(place)
                      << "` is there. Are these the settings of the server?\n";
}

awaitable<result<void>> look_everywhere(content_session& on, findings& found, const own_options& own)
{
    const auto rows = co_await check_rows(on, found, own.json);
    if (!rows)
        co_return rows.error();
    for (const auto place : on.stores.places()) {
        const auto orphans = co_await check_orphans(on, place, found, own);
        if (!orphans)
            co_return orphans.error();
    }
    co_return result<void>();
}

awaitable<result<int>> check(content_session on, const own_options& own)
{
    findings found;
    const auto looked = co_await look_everywhere(on, found, own);
    // What was found before it broke off is true; the counts would say that this is all.
    if (!own.json)
        print_findings(found);
    if (!looked)
        co_return looked.error();
    if (own.json) {
        print_json(found);
    } else {
        print_counts(found);
        ask_about_settings(found);
    }
    co_return found.all_is_well() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int run_content_check(const command& asked)
{
    return with_content(asked.config, [&](content_session on) { return check(on, asked.own); });
}

}  // namespace restante
