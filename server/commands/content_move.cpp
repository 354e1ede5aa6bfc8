// restante content move: brings the bytes of all files into one store, while servers run.
#include "server/commands/content.hpp"
#include "server/commands/content_mover.hpp"
#include "server/commands/progress_line.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

namespace json = boost::json;

constexpr int page_size = 200;

struct tally {
    std::int64_t moved = 0;
    std::uint64_t bytes = 0;                  // of those
    std::vector<std::string> too_large = {};  // for a row
    std::vector<std::string> lost = {};       // their bytes are not what they should be
    std::vector<std::string> unreadable = {};

    bool all_is_well() const { return too_large.empty() && lost.empty() && unreadable.empty(); }
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

void count(tally& into, move_outcome how, const stored_content& file)
{
    switch (how) {
        case move_outcome::moved:
            into.moved += 1;
            into.bytes += file.size;
            break;
        case move_outcome::stays: break;
        case move_outcome::too_large: into.too_large.push_back(to_string(file.file_id)); break;
        case move_outcome::lost: into.lost.push_back(to_string(file.file_id)); break;
        case move_outcome::unreadable: into.unreadable.push_back(to_string(file.file_id)); break;
    }
}

awaitable<result<void>> move_rows(content_session& on, const command& asked, content_place to, tally& counted)
{
    if (!on.stores.find(to))
        co_return store_failed(on, to, RESTANTE_ERROR(errc::content_store_unavailable));
    const auto total = co_await on.rows.totals();
    if (!total)
        co_return total.error();
    content_mover work(on, asked.config, to);
    const char* doing = asked.own.dry_run ? "counting" : "moving";
    progress_line progress(doing, {total->files, total->bytes}, !asked.own.json);
    for (uuid after{};;) {
        const auto page = co_await on.rows.page(after, page_size);
        if (!page)
            co_return page.error();
        if (page->empty())
            co_return result<void>();
        for (const auto& row : *page) {
            result<move_outcome> how = plan_move(row, to, on.stores.policy());
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
