#include "server/commands/serve.hpp"

#include "cli/config_values.hpp"
#include "core/log.hpp"
#include "core/log_sink.hpp"
#include "http/net/bind_listeners.hpp"
#include "http/net/self_signed.hpp"
#include "http/net/tls_context.hpp"
#include "server/api/workspaces/registration_policy.hpp"
#include "server/app/database.hpp"
#include "server/app/descriptors.hpp"
#include "server/app/shard_app.hpp"
#include "server/app/shard_set.hpp"
#include "server/app/signals.hpp"
#include "server/events/replica_link.hpp"

#include <cstdlib>
#include <deque>
#include <iostream>
#include <sys/stat.h>
#include <thread>

namespace restante {

namespace {

constexpr std::size_t handshakes_at_once = 200;

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

// Not refused, as a TLS key is: servers run with such files already.
void warn_about_admin_token_file(const settings& config)
{
    struct stat info{};
    if (config.admin_token_file.empty() || ::stat(config.admin_token_file.c_str(), &info) != 0)
        return;
    if ((info.st_mode & S_IRWXO) != 0)
        log_line(log_level::warn, "admin_token_file_open")
            .field("file", config.admin_token_file)
            .field("reason", "every user of this machine can read the admin token; chmod 600 the file");
}

class server {
public:
    server(const settings& config, const std::string& conninfo, const tls_context& push_tls)
        : config_(config),
          memory_(config.body_memory),
          spools_(memory_, config.spool_limit, config.spool_dir),
          shards_(shard_count(config), limits_of(config)),
          replicas_(shards_[0].get_executor(), {.conninfo = conninfo}, notices_)
    {
        const tokenless_policy without_token{config.dev, registration_door(config)};
        const shared_state shared{memory_, spools_, keys_, notices_, commits_, without_token, push_tls};
        for (std::size_t i = 0; i < shards_.size(); ++i)
            link_to_replicas(shards_[i], apps_.emplace_back(config_, conninfo, shared, shards_[i], shards_));
        notices_.subscribe(shards_[0].get_executor(), replicas_);
        commits_.subscribe(shards_[0].get_executor(), replicas_);
    }

    startup_result<void> open()
    {
        warn_about_registration(config_);
        warn_about_admin_token_file(config_);
        if (!config_.listen_tls.empty()) {
            auto context = load_tls();
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

    int run(const signal_watch& signals)
    {
        for (auto& app : apps_)
            app.start();
        replicas_.start(shards_[0].background());
        shards_.start();
        std::cout << "restante ready http=" << ready_.http << " https=" << ready_.https
                  << " metrics=" << ready_.metrics << std::endl;
        signals.wait_for_stop([this] { reload_tls(); });
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

    startup_result<tls_context> load_tls() const
    {
        if (!config_.tls_cert.empty())
            return make_tls_context({config_.tls_cert, config_.tls_key});
        auto own = make_self_signed_if_needed(config_.data_dir);
        if (!own)
            return own.error();
        return make_tls_context(*own);
    }

    void reload_tls()
    {
        if (config_.listen_tls.empty())
            return;
        auto context = load_tls();
        if (!context) {
            log_line(log_level::error, "certificate_not_reloaded").field("error", context.error().message);
            return;
        }
        shards_.set_tls(*context);
        log_line(log_level::info, "certificate_reloaded");
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
    memory_budget memory_;
    spool_budget spools_;
    running_keys keys_;
    identity_notices notices_;
    commit_subscribers commits_;
    shard_set shards_;
    replica_link replicas_;
    std::deque<shard_app> apps_;
    ready_line ready_;
};

// A database of somebody else's may take 30 s to come up, and a signal to stop acts meanwhile. A private one
// must not be left half started.
startup_result<database> open_database(const settings& config)
{
    if (config.database_url.empty())
        return database::open(config);
    const killable meanwhile;
    return database::open(config);
}

}  // namespace

int run_serve(const settings& config)
{
    set_log_level(config.level);
    const signal_watch signals;
    const background_log log;
    const auto push_tls = make_client_tls_context(config.push_ca_file);
    if (!push_tls) {
        std::cerr << "restante: --push-ca-file: " << push_tls.error().message << '\n';
        return EXIT_FAILURE;
    }
    auto data = open_database(config);
    if (!data) {
        std::cerr << "restante: " << data.error().message << '\n';
        return EXIT_FAILURE;
    }
    server instance(config, data->conninfo(), *push_tls);
    if (auto opened = instance.open(); !opened) {
        std::cerr << "restante: " << opened.error().message << '\n';
        return EXIT_FAILURE;
    }
    return instance.run(signals);
}

}  // namespace restante
