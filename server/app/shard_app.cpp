#include "server/app/shard_app.hpp"

#include "core/memory_return.hpp"
#include "server/api/operations/process_metrics.hpp"
#include "server/app/api_document.hpp"
#include "server/app/callback_policy.hpp"
#include "server/app/quota_limits.hpp"
#include "server/app/sweep_policy.hpp"
#include "server/events/token_watch.hpp"
#include "server/spool/block_cache.hpp"
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
pq::pool_options pool_options_of(const settings& config, const std::string& conninfo, std::size_t shards,
                                 std::shared_ptr<pq::newest_timeline> timelines)
{
    const auto share = static_cast<unsigned>(config.db_connections / shards);
    return {.connect = {.conninfo = conninfo,
                        .application_name = session_name(),
                        .require_synchronous = config.require_synchronous,
                        .timelines = std::move(timelines)},
            .connections = std::max(2u, share)};
}

// A standby that answers late is of no use, so nobody waits long for a connection to it.
pq::pool_options standby_options_of(const settings& config, const pq::connection_pool& primary)
{
    auto connect = primary.connect_settings();
    connect.conninfo = config.replica_url;
    connect.role = pq::session_role::standby;
    connect.statement_timeout = std::chrono::seconds(1);
    return {.connect = std::move(connect),
            .log_as = "replica_unavailable",
            .connections = primary.most_connections(),
            .wait_limit = std::chrono::milliseconds(50)};
}

form_limits limits_of(const settings& config)
{
    return {.file_bytes = config.max_file_bytes,
            .request_bytes = config.max_request_bytes,
            .files = config.max_files,
            .parts = config.max_parts};
}

peer_talk peers_of(const settings& config)
{
    return config.peers == peer_policy::open ? peer_talk::allowed : peer_talk::refused;
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

presence_policy presence_policy_of(const settings& config)
{
    return {.timeout = config.presence_timeout};
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
      db_(home.get_executor(), pool_options_of(config, conninfo, all.size(), shared.timelines)),
      schema_(db_, readiness_),
      standby_(config.replica_url.empty()
                   ? nullptr
                   : std::make_unique<standby>(home.get_executor(), standby_options_of(config, db_),
                                               home.metrics())),
      standby_feed_(standby_ ? std::make_unique<standby_feed>(db_, *standby_) : nullptr),
      feed_(db_, shared.memory, standby_feed_.get()),
      chat_(db_),
      tail_(db_),
      events_(home.get_executor(), tail_, home.metrics()),
      polls_(home.get_executor(), home.metrics()),
      receipts_(db_),
      waiting_(home.get_executor(), receipts_, home.metrics()),
      heads_(home.get_executor(), tail_, {&events_, &polls_}),
      commits_(home.get_executor(), shared.commits),
      live_(home.get_executor(), shared.live),
      contents_(content_policy_of(config), home.metrics()),
      standby_contents_(standby_ ? std::make_unique<standby_contents>(*standby_) : nullptr),
      uploads_(db_, config.upload_ttl, &live_, standby_contents_.get()),
      cursors_(db_),
      activity_(db_, commits_, quota_limits_of(config)),
      requests_(db_, config.upload_ttl),
      staging_(home.get_executor(), db_, uploads_, activity_, requests_, &contents_),
      quotas_(db_, quota_limits_of(config)),
      quota_gate_(quotas_),
      figures_(db_),
      waiting_list_(db_),
      upload_metrics_(home.metrics()),
      workspaces_(db_),
      directory_(db_),
      tokens_(db_),
      auth_(home.get_executor(), tokens_, workspaces_, shared.notices, config.admin_token),
      presence_(db_),
      signs_(presence_policy_of(config).stamp_interval()),
      sign_writer_(signs_, presence_, live_, home.metrics()),
      cors_(config.allowed_origins, config.public_url.text),
      access_(auth_, standing_, home.metrics(), shared.without_token, cors_, peers_of(config)),
      client_(home.get_executor(), dial_options_of(config, names_, shared.push_tls)),
      callbacks_(workspaces_, callback_policy_of(config)),
      push_metrics_(home.metrics()),
      services_{.operations = {
                    .ready = readiness_,
                    .requests = home.requests(),
                    .reasons_not_ready = [&board = shared.ready,
                                          ex = home.get_executor()] { return board.reasons_not_ready(ex); },
                    .scrape = [&all, ex = home.get_executor()] { return all.scrape(ex); },
                    .openapi = shared.openapi},
                .workspaces = {.access = access_,
                               .auth = auth_,
                               .notices = shared.notices,
                               .workspaces = workspaces_,
                               .tokens = tokens_,
                               .directory = directory_,
                               .live = live_,
                               .quotas = quotas_,
                               .callbacks = {callback_policy_of(config), names_}},
                .grants = {.tokens = tokens_,
                           .notices = shared.notices,
                           .public_url = config.public_url.text,
                           .minted = grants_minted(home.metrics())},
                .push = {.auth = auth_,
                         .callbacks = callbacks_,
                         .client = client_,
                         .metrics = push_metrics_,
                         .limit = config.push_timeout},
                .uploads = {.limits = limits_of(config),
                            .auth = auth_,
                            .spools = shared.spools,
                            .contents = contents_,
                            .received_in = shared.content.received_in(config),
                            .keys = shared.keys,
                            .quotas = quota_gate_,
                            .stage = staging_,
                            .metrics = upload_metrics_,
                            .push = services_.push},
                .files = {.uploads = uploads_,
                          .stamps = stamps_,
                          .spools = shared.spools,
                          .contents = contents_,
                          .requests = home.requests(),
                          .serve_acked = config.content_after_ack == acked_content::until_sweep},
                .receipts = {.auth = auth_,
                             .receipts = receipts_,
                             .waiting = waiting_,
                             .requests = home.requests()},
                .inbox = {.access = access_,
                          .auth = auth_,
                          .feed = feed_,
                          .chat = chat_,
                          .stage = staging_,
                          .message_lifetime = config.activity_retention,
                          .cursors = cursors_,
                          .polls = polls_,
                          .presence = signs_,
                          .events = events_,
                          .cors = cors_,
                          .peers = peers_of(config),
                          .push = services_.push,
                          .public_url = config.public_url.text,
                          .requests = home.requests()},
                .agents = {.access = access_,
                           .auth = auth_,
                           .standing = standing_,
                           .notices = shared.notices,
                           .presence = signs_,
                           .workspaces = workspaces_,
                           .directory = directory_,
                           .peers = config.peers,
                           .callbacks = {callback_policy_of(config), names_},
                           .public_url = config.public_url.text,
                           .strangers = stranger_queue(home.get_executor())},
                .admin = {.db = db_,
                          .figures = figures_,
                          .recent = shared.recent,
                          .waiting = waiting_list_,
                          .contents = contents_,
                          .quotas = quota_limits_of(config)},
                .page = {}},
      public_routes_(public_routes(&services_, body_limits_of(config), config.web == web_page::on)),
      operator_routes_(operator_routes(&services_)),
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
    shared.ready.subscribe(home.get_executor(), readiness_);
    shared.content.add_stores(contents_, home.get_executor(), db_);
    readiness_.add_degradation([this] { return degradations(); });
    shared.notices.subscribe(home.get_executor(), auth_);
    shared.notices.subscribe(home.get_executor(), callbacks_);
    shared.notices.subscribe(home.get_executor(), standing_);
    shared.notices.subscribe(home.get_executor(), signs_);
    shared.notices.subscribe(home.get_executor(), events_);
    shared.notices.subscribe(home.get_executor(), polls_);
    shared.notices.subscribe(home.get_executor(), waiting_);
    shared.commits.subscribe(home.get_executor(), events_);
    shared.commits.subscribe(home.get_executor(), polls_);
    shared.live.subscribe(home.get_executor(), events_);
    sign_writer_.add_source(events_);
    sign_writer_.add_source(polls_);
    shared.live.subscribe(home.get_executor(), waiting_);
    home.count_restarts_of(writers_);
    add_pool_metrics(home.metrics(), db_);
    if (&home == &all[0]) {
        housekeeping_ = std::make_unique<housekeeping>(db_, home.metrics(), policy_from(config), quotas_,
                                                       contents_, &live_);
        silence_ =
            std::make_unique<silence_watch>(presence_, live_, home.metrics(), presence_policy_of(config));
        const auto collect = [&all, ex = home.get_executor()] { return all.collect(ex); };
        series_ = std::make_unique<series_recorder>(collect, figures_, shared.recent);
        add_process_metrics(home.metrics(), shared.spools);
    }
}

void shard_app::start()
{
    background_.spawn_supervised("pool", [this] { return db_.run(); });
    background_.spawn("pool_end", end_pool_last());
    if (standby_) {
        background_.spawn_supervised("replica_pool", [this] { return standby_->run_pool(db_); });
        writers_.spawn_supervised("replica_probe", [this] { return standby_->run_probes(writers_); });
    }
    writers_.spawn_supervised("schema_watch", [this] { return schema_.run(writers_); });
    writers_.spawn_supervised("last_used",
                              [this] { return run_last_used_writer(auth_.notes(), tokens_, writers_); });
    writers_.spawn_supervised("fetch_stamps",
                              [this] { return run_fetch_stamp_writer(stamps_, uploads_, writers_); });
    writers_.spawn_supervised("catch_up", [this] { return events_.run_catch_up(writers_); });
    writers_.spawn_supervised("head_check", [this] { return heads_.run(writers_); });
    writers_.spawn_supervised("receipt_check", [this] { return waiting_.run_checks(writers_); });
    writers_.spawn_supervised("token_watch", [this] {
        return run_token_watch({&events_, &polls_, &waiting_}, tokens_, writers_);
    });
    writers_.spawn_supervised("presence", [this] { return sign_writer_.run(writers_); });
    writers_.spawn_supervised("identity_watch",
                              [this] { return run_identity_watch(standing_, tokens_, writers_); });
    for (const auto place : contents_.places())
        writers_.spawn_supervised("content_store", [this, place] { return contents_.run(writers_, place); });
    if (housekeeping_) {
        housekeeping_->start(writers_);
        writers_.spawn_supervised("silence_watch", [this] { return silence_->run(writers_); });
        writers_.spawn_supervised("series", [this] { return series_->run(writers_); });
        writers_.spawn_supervised("block_return", [this] { return run_block_return(writers_); });
        writers_.spawn_supervised("memory_return", [this] { return run_memory_return(writers_); });
    }
}

void shard_app::apply_remote(const changes& what)
{
    for (const auto& [workspace, seq] : what.activity) {
        events_.on_remote_activity(workspace, seq);
        polls_.wake(workspace, seq);
    }
    if (what.everything) {
        heads_.check_now();
        waiting_.check_now();
        standing_.check_soon();
    }
}

void shard_app::apply(const live_settings& next)
{
    if (auth_.set_admin_token(next.admin_token))
        events_.disconnect_admins();
    cors_ = cors_policy(next.allowed_origins, services_.grants.public_url);
    access_.set_tokenless_policy(next.without_token);
    quotas_.set_defaults(next.quotas);
    services_.admin.quotas = next.quotas;
    activity_.set_limits(next.quotas);
}

std::vector<std::string> shard_app::degradations() const
{
    auto all = contents_.troubles();
    if (standby_)
        if (auto why = standby_->trouble())
            all.push_back(std::move(*why));
    return all;
}

// The pool ends last: other background tasks may still flush what they have collected.
awaitable<void> shard_app::end_pool_last()
{
    while (!co_await background_.stopped_within(std::chrono::hours(1))) {
    }
    client_.stop();
    co_await writers_.shutdown(flush_limit, flush_limit / 3);
    if (standby_)
        standby_->stop();
    db_.stop();
}

}  // namespace restante
