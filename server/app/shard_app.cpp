#include "server/app/shard_app.hpp"

#include "core/memory_return.hpp"
#include "server/api/operations/process_metrics.hpp"
#include "server/app/callback_policy.hpp"
#include "server/app/sweep_policy.hpp"
#include "server/events/token_watch.hpp"
#include "storage/status.hpp"

#include <unistd.h>

namespace restante {

namespace {

constexpr auto flush_limit = std::chrono::milliseconds(150);

// Tells the sessions of this process from those of other replicas, in pg_stat_activity and `restante status`.
std::string session_name()
{
    char host[64] = "";
    ::gethostname(host, sizeof host - 1);
    return std::string(replica_prefix) + std::string(host).substr(0, 36) + ':' + std::to_string(::getpid());
}

// Every shard has its share of the process's connections, and two at least: one for large work, one for the
// rest.
pq::pool_options pool_options_of(const settings& config, const std::string& conninfo, std::size_t shards)
{
    const auto share = static_cast<unsigned>(config.db_connections / shards);
    return {.connect = {.conninfo = conninfo, .application_name = session_name()},
            .connections = std::max(2u, share)};
}

form_limits limits_of(const settings& config)
{
    return {.file_bytes = config.max_file_bytes,
            .request_bytes = config.max_request_bytes,
            .files = config.max_files,
            .parts = config.max_parts};
}

session_timeouts timeouts_of(const settings& config)
{
    return {.header = config.header_timeout, .idle = config.idle_timeout};
}

std::vector<std::string> allowed_hosts_of(const settings& config)
{
    std::vector<std::string> names;
    for (const auto& host : config.allowed_hosts)
        names.push_back(host.text);
    return names;
}

session_environment with_hosts(session_environment side, host_check& hosts)
{
    side.hosts = &hosts;
    return side;
}

dial_options dial_options_of(const settings& config, name_resolver& names, const tls_context& tls)
{
    const auto policy = callback_policy_of(config);
    return {.names = names,
            .judge = [policy](const asio::ip::address& address) { return policy.allows(address); },
            .tls = tls};
}

}  // namespace

shard_app::shard_app(const settings& config, const std::string& conninfo, shared_state shared, shard& home,
                     shard_set& all)
    : background_(home.background()),
      writers_(home.get_executor()),
      db_(home.get_executor(), pool_options_of(config, conninfo, all.size())),
      schema_(db_, readiness_),
      feed_(db_, shared.memory),
      tail_(db_),
      events_(home.get_executor(), tail_, home.metrics()),
      polls_(home.get_executor(), home.metrics()),
      heads_(home.get_executor(), tail_, {&events_, &polls_}),
      commits_(home.get_executor(), shared.commits),
      uploads_(db_, config.upload_ttl),
      cursors_(db_),
      activity_(db_, commits_),
      requests_(db_, config.upload_ttl),
      staging_(home.get_executor(), db_, uploads_, activity_, requests_),
      upload_metrics_(home.metrics()),
      workspaces_(db_),
      tokens_(db_),
      auth_(home.get_executor(), tokens_, workspaces_, shared.notices, config.admin_token),
      cors_(config.allowed_origins),
      access_(auth_, home.metrics(), shared.without_token, cors_),
      client_(home.get_executor(), dial_options_of(config, names_, shared.push_tls)),
      callbacks_(workspaces_, callback_policy_of(config)),
      push_metrics_(home.metrics()),
      services_{.operations = {.ready = readiness_,
                               .requests = home.requests(),
                               .scrape = [&all, ex = home.get_executor()] { return all.scrape(ex); }},
                .workspaces = {.access = access_,
                               .auth = auth_,
                               .notices = shared.notices,
                               .workspaces = workspaces_,
                               .tokens = tokens_,
                               .callbacks = callback_policy_of(config)},
                .push = {.auth = auth_,
                         .callbacks = callbacks_,
                         .client = client_,
                         .metrics = push_metrics_,
                         .limit = config.push_timeout},
                .uploads = {.limits = limits_of(config),
                            .auth = auth_,
                            .spools = shared.spools,
                            .keys = shared.keys,
                            .stage = staging_,
                            .metrics = upload_metrics_,
                            .push = services_.push},
                .files = {.uploads = uploads_, .stamps = stamps_, .spools = shared.spools},
                .inbox = {.auth = auth_,
                          .feed = feed_,
                          .stage = staging_,
                          .message_lifetime = config.activity_retention,
                          .cursors = cursors_,
                          .polls = polls_,
                          .events = events_,
                          .cors = cors_,
                          .push = services_.push,
                          .requests = home.requests()}},
      public_routes_(public_routes(services_)),
      operator_routes_(operator_routes(services_)),
      public_metrics_(home.metrics(), public_routes_),
      operator_metrics_(home.metrics(), operator_routes_),
      loopback_hosts_(host_policy::on_loopback(allowed_hosts_of(config))),
      public_hosts_(host_policy::elsewhere(allowed_hosts_of(config))),
      public_{public_routes_,      cors_,          public_metrics_, &access_,
              timeouts_of(config), &public_hosts_, &shared.memory},
      public_on_loopback_(with_hosts(public_, loopback_hosts_)),
      operator_{operator_routes_,    cors_,   operator_metrics_, nullptr,
                timeouts_of(config), nullptr, &shared.memory},
      operator_on_loopback_(with_hosts(operator_, loopback_hosts_))
{
    shared.notices.subscribe(home.get_executor(), auth_);
    shared.notices.subscribe(home.get_executor(), callbacks_);
    shared.notices.subscribe(home.get_executor(), events_);
    shared.notices.subscribe(home.get_executor(), polls_);
    shared.commits.subscribe(home.get_executor(), events_);
    shared.commits.subscribe(home.get_executor(), polls_);
    home.count_restarts_of(writers_);
    add_pool_metrics(home.metrics(), db_);
    if (&home == &all[0]) {
        housekeeping_ = std::make_unique<housekeeping>(db_, home.metrics(), policy_from(config));
        add_process_metrics(home.metrics(), shared.spools);
    }
}

void shard_app::start()
{
    background_.spawn_supervised("pool", [this] { return db_.run(); });
    background_.spawn("pool_end", end_pool_last());
    writers_.spawn_supervised("schema_watch", [this] { return schema_.run(writers_); });
    writers_.spawn_supervised("last_used",
                              [this] { return run_last_used_writer(auth_.notes(), tokens_, writers_); });
    writers_.spawn_supervised("fetch_stamps",
                              [this] { return run_fetch_stamp_writer(stamps_, uploads_, writers_); });
    writers_.spawn_supervised("catch_up", [this] { return events_.run_catch_up(writers_); });
    writers_.spawn_supervised("head_check", [this] { return heads_.run(writers_); });
    writers_.spawn_supervised("token_watch",
                              [this] { return run_token_watch({&events_, &polls_}, tokens_, writers_); });
    if (housekeeping_) {
        housekeeping_->start(writers_);
        writers_.spawn_supervised("memory_return", [this] { return run_memory_return(writers_); });
    }
}

void shard_app::apply_remote(const changes& what)
{
    for (const auto& [workspace, seq] : what.activity) {
        events_.on_remote_activity(workspace, seq);
        polls_.wake(workspace, seq);
    }
    if (what.everything)
        heads_.check_now();
}

// The pool ends last: other background tasks may still flush what they have collected.
awaitable<void> shard_app::end_pool_last()
{
    while (!co_await background_.stopped_within(std::chrono::hours(1))) {
    }
    client_.stop();
    co_await writers_.shutdown(flush_limit, flush_limit / 3);
    db_.stop();
}

}  // namespace restante
