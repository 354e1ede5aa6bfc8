#include "server/app/shard_app.hpp"

#include "core/memory_return.hpp"
#include "server/api/operations/process_metrics.hpp"
#include "server/api/route_table.hpp"
#include "server/events/token_watch.hpp"
#include "storage/status.hpp"

#include <unistd.h>

namespace restante {

namespace {

constexpr auto time_for_last_words = std::chrono::milliseconds(150);

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

}  // namespace

shard_app::shard_app(const settings& config, const std::string& conninfo, shared_state shared, shard& home,
                     shard_set& all)
    : background_(home.background()),
      writers_(home.get_executor()),
      db_(home.get_executor(), pool_options_of(config, conninfo, all.size())),
      schema_(db_, readiness_),
      feed_(db_),
      tail_(db_),
      events_(home.get_executor(), tail_, home.counts()),
      polls_(home.get_executor(), feed_, home.counts()),
      commits_(home.get_executor(), shared.commits),
      uploads_(db_, config.upload_ttl),
      cursors_(db_),
      activity_(db_, commits_),
      requests_(db_, config.upload_ttl),
      staging_(home.get_executor(), db_, uploads_, activity_, requests_),
      uploads_seen_(home.counts()),
      workspaces_(db_),
      tokens_(db_),
      auth_(home.get_executor(), tokens_, workspaces_, shared.bulletin, {config.admin_token, config.dev}),
      access_(auth_, home.counts(), shared.registration_open),
      services_{.ex = home.get_executor(),
                .config = config,
                .counts = home.counts(),
                .requests = home.requests(),
                .background = home.background(),
                .ready = readiness_,
                .access = &access_,
                .auth = auth_,
                .bulletin = shared.bulletin,
                .workspaces = workspaces_,
                .tokens = tokens_,
                .spools = shared.spools,
                .keys = shared.keys,
                .stage = staging_,
                .uploads_seen = uploads_seen_,
                .uploads = uploads_,
                .stamps = stamps_,
                .cursors = cursors_,
                .activity = activity_,
                .feed = feed_,
                .polls = polls_,
                .events = events_,
                .scrape = [&all, ex = home.get_executor()] { return all.scrape(ex); }},
      cors_(config.allowed_origins),
      public_requests_(home.counts(), public_routes()),
      metrics_requests_(home.counts(), metrics_routes()),
      public_{public_routes(), services_, cors_, public_requests_},
      metrics_{metrics_routes(), services_, cors_, metrics_requests_}
{
    shared.bulletin.subscribe(home.get_executor(), auth_);
    shared.bulletin.subscribe(home.get_executor(), events_);
    shared.commits.subscribe(home.get_executor(), events_);
    shared.commits.subscribe(home.get_executor(), polls_);
    home.count_restarts_of(writers_);
    add_pool_metrics(home.counts(), db_);
    if (&home == &all[0]) {
        housekeeping_ = std::make_unique<housekeeping>(db_, home.counts(), config);
        add_process_metrics(home.counts(), shared.spools);
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
    writers_.spawn_supervised("safety_look", [this] { return events_.run_safety_look(writers_); });
    writers_.spawn_supervised("parked_polls", [this] { return polls_.run_safety_look(writers_); });
    writers_.spawn_supervised("token_watch", [this] { return run_token_watch(events_, tokens_, writers_); });
    if (housekeeping_) {
        housekeeping_->start(writers_);
        writers_.spawn_supervised("memory_return", [this] { return run_memory_return(writers_); });
    }
}

void shard_app::hear(const bell_news& news)
{
    for (const auto& [workspace, seq] : news.activity) {
        events_.on_remote_activity(workspace, seq);
        polls_.wake(workspace, seq);
    }
    if (news.everything) {
        events_.look_now();
        polls_.look_now();
    }
}

// The pool ends last: what else runs in the background may still need it for its final words.
awaitable<void> shard_app::end_pool_last()
{
    while (!co_await background_.stopped_within(std::chrono::hours(1))) {
    }
    co_await writers_.shutdown(time_for_last_words, time_for_last_words / 3);
    db_.stop();
}

}  // namespace restante
