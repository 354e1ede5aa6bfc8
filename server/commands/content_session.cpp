#include "server/commands/content_session.hpp"

#include "server/commands/database_session.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

// No key comes before it.
constexpr const char* nothing_before = "0";

// The settings without which there is no such store.
const char* flags_of(content_place place)
{
    return place == content_place::s3 ? "--s3-endpoint and --s3-bucket" : "--content-dir";
}

std::string explanation(const error_code& ec, const settings& config, const std::string& trouble,
                        const pq::pool_status& database)
{
    if (ec == errc::schema_missing)
        return "the database has no schema or an old one; run `restante migrate`";
    if (ec == errc::content_store_unavailable && !trouble.empty())
        return trouble;
    if (ec == errc::no_room)
        return "there is no room for the copy of a file in --spool-dir " + config.spool_dir;
    return database.last_error.empty() ? ec.message() : ec.message() + ": " + database.last_error;
}

awaitable<int> run_work(const std::string& conninfo, const settings& config,
                        const std::function<awaitable<result<int>>(content_session)>& work)
{
    // After the database, so that a wrong --data-dir is told as what it is.
    const auto setup = content_setup::open(config, missing_directory::is_refused);
    if (!setup) {
        std::cerr << "restante: " << setup.error().message << '\n';
        co_return EXIT_FAILURE;
    }
    const executor ex = co_await asio::this_coro::executor;
    pq::connection_pool pool(
        ex, {.connect = {.conninfo = conninfo}, .connections = 2, .wait_limit = std::chrono::seconds(10)});
    metric_set metrics;
    content_stores stores(content_policy_of(config), metrics);
    setup->add_stores(stores, ex, pool);
    content_rows rows(pool);
    std::string trouble;
    const content_session session{rows, stores, *setup, trouble};
    const auto done = co_await work(session);
    if (done)
        co_return *done;
    std::cerr << "restante: " << explanation(done.error(), config, trouble, pool.status()) << '\n';
    co_return EXIT_FAILURE;
}

}  // namespace

awaitable<bool> can_be_read(const content_session& on, content_place place)
{
    const auto listed = co_await on.stores.list(place, "", nothing_before, 1);
    co_return listed.has_value();
}

error_code store_failed(const content_session& on, content_place place, const error_code& ec)
{
    const std::string name = "the content store `" + std::string(name_of(place)) + "`";
    const auto* store = on.stores.find(place);
    const auto why = store ? store->trouble() : std::nullopt;
    if (!store)
        on.trouble = name + " is not set up here: it takes the server's " + flags_of(place);
    else
        on.trouble = name + " cannot be used" + (why ? ": " + *why : "; the log has the reason");
    return ec;
}

int with_content(const settings& config, std::function<awaitable<result<int>>(content_session)> work)
{
    return with_database(
        config, [&](const std::string& conninfo) { return run_work(conninfo, config, work); });
}

}  // namespace restante
