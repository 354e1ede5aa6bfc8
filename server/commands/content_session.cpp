#include "server/commands/content_session.hpp"

#include "server/commands/database_session.hpp"
#include "server/commands/plain_words.hpp"

#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace restante {

namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr int bar_width = 30;

std::string explanation(const error_code& ec, const pq::pool_status& database)
{
    if (ec == errc::schema_missing)
        return "the database has no schema or an old one; run `restante migrate`";
    if (ec == errc::content_store_unavailable)
        return "a content store cannot be used, or its settings (--content-dir, --s3-endpoint) were not given";
    return database.last_error.empty() ? ec.message() : ec.message() + ": " + database.last_error;
}

awaitable<int> run_work(const std::string& conninfo, const settings& config, const content_setup& setup,
                        const std::function<awaitable<result<int>>(content_session)>& work)
{
    const executor ex = co_await asio::this_coro::executor;
    pq::connection_pool pool(
        ex, {.connect = {.conninfo = conninfo}, .connections = 2, .wait_limit = std::chrono::seconds(10)});
    metric_set metrics;
    content_stores stores(content_policy_of(config), metrics);
    setup.add_stores(stores, ex, pool);
    content_rows rows(pool);
    const auto done = co_await work({rows, stores, setup});
    if (done)
        co_return *done;
    std::cerr << "restante: " << explanation(done.error(), pool.status()) << '\n';
    co_return EXIT_FAILURE;
}

}  // namespace

bool is_away(const content_stores& stores, content_place place)
{
    const auto* store = stores.find(place);
    return !store || (place != content_place::directory && store->trouble());
}

int with_content(const settings& config, std::function<awaitable<result<int>>(content_session)> work)
{
    const auto setup = content_setup::open(config);
    if (!setup) {
        std::cerr << "restante: " << setup.error().message << '\n';
        return EXIT_FAILURE;
    }
    return with_database(
        config, [&](const std::string& conninfo) { return run_work(conninfo, config, *setup, work); });
}

progress_line::progress_line(const char* doing, std::int64_t total, bool wanted)
    : doing_(doing), total_(total), on_(wanted && ::isatty(STDERR_FILENO) == 1)
{
}

progress_line::~progress_line()
{
    if (on_)
        std::cerr << "\r\x1b[K" << std::flush;
}

void progress_line::advance()
{
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!on_ || (now - drawn_ < redraw_interval && done_ < total_))
        return;
    drawn_ = now;
    const auto filled =
        total_ > 0 ? static_cast<int>(bar_width * std::min(done_, total_) / total_) : bar_width;
    std::cerr << '\r' << doing_ << " [" << std::string(static_cast<std::size_t>(filled), '#')
              << std::string(static_cast<std::size_t>(bar_width - filled), '.') << "] "
              << with_separators(done_) << '/' << with_separators(total_) << "\x1b[K" << std::flush;
}

}  // namespace restante
