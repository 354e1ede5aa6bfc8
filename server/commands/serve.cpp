#include "server/commands/serve.hpp"

#include "cli/config_values.hpp"
#include "core/log.hpp"
#include "core/log_sink.hpp"
#include "http/net/bind_listeners.hpp"
#include "server/app/api_document.hpp"
#include "server/app/database.hpp"
#include "server/app/descriptors.hpp"
#include "server/app/reloader.hpp"
#include "server/app/server_tls.hpp"
#include "server/app/shard_app.hpp"
#include "server/app/shard_set.hpp"
#include "server/app/signals.hpp"
#include "server/app/startup_warnings.hpp"
#include "server/events/replica_link.hpp"
#include "server/spool/spool.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdlib>
#include <deque>
#include <iostream>
#include <thread>

namespace restante {

namespace {

constexpr std::size_t handshakes_at_once = 200;
constexpr auto ready_patience = std::chrono::seconds(2);

// The addresses that were bound, as the ready line names them.
struct ready_line {
    std::string http;
    std::string https;
    std::string metrics;

    static void append(std::string& list, const tcp::endpoint& bound)
    {
        list += list.empty() ? "" : ",";
        list += to_string(bound);
    }
};

class server {
public:
    server(const settings& config, const std::string& conninfo, const tls_context& push_tls,
           const content_setup& content)
        : config_(config),
          content_(content),
          memory_(config.body_memory),
          spools_(memory_, config.spool_limit, config.spool_dir),
          shards_(shard_count(config), limits_of(config)),
          replicas_(shards_[0].get_executor(), {.conninfo = conninfo, .timelines = timelines_}, notices_,
                    live_)
    {
        const auto without_token = live_settings_of(config).without_token;
        const shared_state shared{memory_,  spools_,       keys_,      notices_, commits_,
                                  live_,    ready_shards_, timelines_, recent_,  without_token,
                                  push_tls, openapi_,      content};
        for (std::size_t i = 0; i < shards_.size(); ++i)
            link_to_replicas(shards_[i], apps_.emplace_back(config_, conninfo, shared, shards_[i], shards_));
        notices_.subscribe(shards_[0].get_executor(), replicas_);
        commits_.subscribe(shards_[0].get_executor(), replicas_);
        live_.subscribe(shards_[0].get_executor(), replicas_);
    }

    startup_result<void> open()
    {
        warn_about_access(config_);
        warn_about_limits(config_);
        if (!config_.listen_tls.empty()) {
            auto context = load_server_tls(config_);
            if (!context)
                return context.error();
            for (std::size_t i = 0; i < shards_.size(); ++i)
                shards_[i].set_tls(*context);
        }
        for (const auto& address : config_.listen)
            if (auto opened = listen(address, "--listen", transport::plain, ready_.http); !opened)
                return opened.error();
        for (const auto& address : config_.listen_tls)
            if (auto opened = listen(address, "--listen-tls", transport::tls, ready_.https); !opened)
                return opened.error();
        return listen_for_metrics();
    }

    int run(const signal_watch& signals, const settings_reader& read_again)
    {
        reloader on_hangup(config_, read_again, shards_, apps_);
        for (auto& app : apps_)
            app.start();
        replicas_.start(shards_[0].background());
        shards_.start();
        await_readiness(signals);
        std::cout << "restante ready http=" << ready_.http << " https=" << ready_.https
                  << " metrics=" << ready_.metrics << std::endl;
        signals.wait_for_stop([&] {
            on_hangup.reload();
            content_.reload();
        });
        log_line(log_level::info, "stopping");
        shards_.stop(config_.shutdown_grace);
        signals.let_next_one_kill();
        // A task that can't be ended can't be destroyed either; it has been named in the log.
        if (!shards_.join()) {
            flush_log();
            std::_Exit(EXIT_FAILURE);
        }
        log_line(log_level::info, "stopped");
        return EXIT_SUCCESS;
    }

private:
    // Who has read the ready line finds a server that is ready. One whose database is unavailable listens all
    // the same, and says so in /readyz.
    void await_readiness(const signal_watch& signals)
    {
        using clock = std::chrono::steady_clock;
        const executor home = shards_[0].get_executor();
        for (const auto end = clock::now() + ready_patience; clock::now() < end && !signals.stop_pending();) {
            auto reasons = asio::co_spawn(home, ready_shards_.reasons_not_ready(home), asio::use_future);
            if (reasons.get().empty())
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    static unsigned shard_count(const settings& config)
    {
        if (config.threads != 0)
            return config.threads;
        return std::max(1u, std::thread::hardware_concurrency());
    }

    static shard_limits limits_of(const settings& config)
    {
        const auto connections = connection_limit(config, raise_descriptor_limit());
        // However few places there are, one address does not get them all.
        const auto strangers = std::min<std::size_t>(config.max_anonymous_connections, connections / 4);
        return {.connections = connections,
                .handshakes = handshakes_at_once,
                .strangers = config.max_anonymous_connections == 0 ? 0 : std::max<std::size_t>(1, strangers),
                .handshake_timeout = config.handshake_timeout};
    }

    void link_to_replicas(shard& home, shard_app& app)
    {
        replicas_.add_shard(home.get_executor(), [&app](const changes& what) { app.apply_remote(what); });
    }

    startup_result<void> listen(const host_port& address, const char* flag, transport kind,
                                std::string& bound)
    {
        auto acceptors = bind_listeners(address, flag, shards_.executors());
        if (!acceptors)
            return acceptors.error();
        ready_line::append(bound, acceptors->front().local_endpoint());
        for (std::size_t i = 0; i < shards_.size(); ++i)
            shards_[i].add_listener(std::move((*acceptors)[i]), kind,
                                    apps_[i].public_side(is_loopback(address)));
        return {};
    }

    // One shard is enough to answer a scrape every few seconds.
    startup_result<void> listen_for_metrics()
    {
        const std::vector<executor> first{shards_[0].get_executor()};
        auto acceptors = bind_listeners(config_.metrics_listen, "--metrics-listen", first);
        if (!acceptors)
            return acceptors.error();
        ready_line::append(ready_.metrics, acceptors->front().local_endpoint());
        shards_[0].add_operator_listener(std::move(acceptors->front()),
                                         apps_[0].operator_side(is_loopback(config_.metrics_listen)));
        return {};
    }

    const settings& config_;
    const content_setup& content_;
    const std::string openapi_ = make_api_document(config_);
    memory_budget memory_;
    spool_budget spools_;
    running_keys keys_;
    identity_notices notices_;
    commit_subscribers commits_;
    live_event_board live_;
    readiness_board ready_shards_;
    const std::shared_ptr<pq::newest_timeline> timelines_ = std::make_shared<pq::newest_timeline>();
    recent_series recent_;
    shard_set shards_;
    replica_link replicas_;
    std::deque<shard_app> apps_;
    ready_line ready_;
};

// A database of somebody else's may take 30 s to come up, and a signal to stop acts meanwhile. A private one
// must not be left half started, so it is stopped first.
startup_result<database> open_database(const settings& config, const signal_watch& signals)
{
    if (config.database_url.empty())
        return database::open(config, [&signals] { return signals.stop_pending(); });
    const killable meanwhile;
    return database::open(config);
}

}  // namespace

int run_serve(const settings& config, const settings_reader& read_again)
{
    set_log_level(config.level);
    const signal_watch signals;
    const background_log log;
    const auto push_tls = make_client_tls_context(config.push_ca_file);
    if (!push_tls) {
        std::cerr << "restante: --push-ca-file: " << push_tls.error().message << '\n';
        return EXIT_FAILURE;
    }
    if (const auto usable = check_spool_directory(config.spool_dir); !usable) {
        std::cerr << "restante: " << usable.error().message << '\n';
        return EXIT_FAILURE;
    }
    auto data = open_database(config, signals);
    if (!data && signals.stop_pending()) {
        log_line(log_level::info, "stopped");
        return EXIT_SUCCESS;
    }
    if (!data) {
        std::cerr << "restante: " << data.error().message << '\n';
        return EXIT_FAILURE;
    }
    const auto content = content_setup::open(config);
    if (!content) {
        std::cerr << "restante: " << content.error().message << '\n';
        return EXIT_FAILURE;
    }
    server instance(config, data->conninfo(), *push_tls, *content);
    if (auto opened = instance.open(); !opened) {
        std::cerr << "restante: " << opened.error().message << '\n';
        return EXIT_FAILURE;
    }
    return instance.run(signals, read_again);
}

}  // namespace restante
