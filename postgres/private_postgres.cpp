#include "postgres/private_postgres.hpp"

#include "core/log.hpp"
#include "postgres/cluster_files.hpp"
#include "postgres/log_file.hpp"
#include "postgres/postmaster_pid.hpp"

#include <csignal>
#include <thread>
#include <unistd.h>
#include <utility>

namespace restante {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds forced_stop_limit{15};
constexpr std::chrono::seconds progress_interval{5};

// PostgreSQL's terms. The fast shutdown ends sessions and loses nothing; after the immediate one the next
// start replays the WAL.
constexpr int fast_shutdown = SIGINT;
constexpr int immediate_shutdown = SIGQUIT;

std::string conninfo_for(const postgres_layout& layout)
{
    return "host=" + layout.socket.string() + " port=5432 user=postgres dbname=postgres";
}

std::int64_t milliseconds_since(clock::time_point start)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - start).count();
}

// Backends exit by themselves when their postmaster was killed, but only a moment later.
bool is_held_by_orphans(std::string_view log)
{
    return log.find("pre-existing shared memory block") != std::string_view::npos;
}

}  // namespace

private_postgres::private_postgres(private_postgres_options options, account who, postgres_binaries binaries,
                                   postgres_layout layout, unique_fd lock)
    : options_(std::move(options)),
      who_(std::move(who)),
      binaries_(std::move(binaries)),
      layout_(std::move(layout)),
      lock_(std::move(lock))
{
}

private_postgres::~private_postgres()
{
    stop();
}

startup_result<private_postgres> private_postgres::start(private_postgres_options options)
{
    auto who = account_for_postgres();
    if (who.has_error())
        return who.error();
    auto binaries = find_postgres_binaries(options.binaries);
    if (binaries.has_error())
        return binaries.error();
    auto layout = prepare_layout(options.data_dir, *who);
    if (layout.has_error())
        return layout.error();
    auto lock = lock_layout(*layout);
    if (lock.has_error())
        return lock.error();
    const auto prepared = prepare_cluster(*layout, *binaries, *who, options.interrupted);
    if (prepared.has_error())
        return prepared.error();

    private_postgres cluster(std::move(options), std::move(*who), std::move(*binaries), std::move(*layout),
                             std::move(*lock));
    if (const auto running = cluster.ensure_running(); running.has_error())
        return running.error();
    return cluster;
}

bool private_postgres::exists(const fs::path& data_dir)
{
    std::error_code ec;
    // What may not be looked at may exist: start() then says what is wrong.
    return fs::exists(data_dir / "postgres" / "data", ec) || ec;
}

std::optional<std::string> private_postgres::conninfo_of_running(const std::filesystem::path& data_dir)
{
    const auto who = account_for_postgres();
    if (who.has_error())
        return std::nullopt;
    const auto layout = find_layout(data_dir, *who);
    if (!layout || !trace_postmaster(layout->data).running)
        return std::nullopt;
    return conninfo_for(*layout);
}

std::string private_postgres::conninfo() const
{
    return conninfo_for(layout_);
}

bool private_postgres::alive()
{
    return postmaster_ && postmaster_->alive();
}

startup_result<void> private_postgres::ensure_running()
{
    if (alive() || adopt())
        return {};
    return launch();
}

void private_postgres::stop()
{
    if (!postmaster_)
        return;
    end_postmaster();
    // A directory in /tmp was created for this run; the next one creates another.
    if (layout_.socket.parent_path() != layout_.root)
        ::rmdir(layout_.socket.c_str());
}

void private_postgres::end_postmaster()
{
    const auto started = clock::now();
    postmaster_->send(fast_shutdown);
    bool ended = postmaster_->wait_for_end(options_.stop_limit);
    if (!ended) {
        log_line(log_level::warn, "private_postgres_forced").field("pid", postmaster_->pid());
        postmaster_->send(immediate_shutdown);
        ended = postmaster_->wait_for_end(forced_stop_limit);
    }
    if (ended)
        log_line(log_level::info, "private_postgres_stopped")
            .field("duration_ms", milliseconds_since(started));
    else
        log_line(log_level::error, "private_postgres_still_running").field("pid", postmaster_->pid());
    postmaster_.reset();
}

// Adopts a PostgreSQL that a crashed server left behind. One that runs but does not respond is useless and is
// stopped: we hold the lock, so no other server depends on it.
bool private_postgres::adopt()
{
    const auto trace = trace_postmaster(layout_.data);
    if (trace.misleading) {
        std::error_code ec;
        fs::remove(layout_.data / "postmaster.pid", ec);
    }
    if (!trace.running)
        return false;
    auto found = process::find(*trace.running);
    if (!found)
        return false;
    postmaster_ = std::make_unique<process>(std::move(*found));
    if (wait_until_ready(clock::now() + options_.adoption_limit) != readiness::ready) {
        end_postmaster();
        return false;
    }
    log_line(log_level::info, "private_postgres_adopted").field("pid", postmaster_->pid());
    return true;
}

startup_result<void> private_postgres::launch()
{
    const auto started = clock::now();
    const auto deadline = started + options_.start_limit;
    for (;;) {
        if (options_.interrupted())
            return startup_failure{"stopped before PostgreSQL was ready"};
        auto log = log_file::open(layout_.log);
        if (log.has_error())
            return log.error();
        const int at_our_end = options_.stops_with_us ? fast_shutdown : 0;
        auto child = spawn(command_line(), who_, log->descriptor(), at_our_end);
        if (child.has_error())
            return child.error();
        postmaster_ = std::make_unique<process>(std::move(*child));

        const auto state = wait_until_ready(deadline);
        if (state == readiness::ready)
            break;
        const auto how = state == readiness::ended ? "ended with " + postmaster_->how_it_ended()
                                                   : "did not get ready in time";
        end_postmaster();
        if (state == readiness::interrupted)
            continue;
        const auto messages = log->said_since_opened();
        if (state == readiness::late || !is_held_by_orphans(messages) || clock::now() >= deadline)
            return startup_failure{"PostgreSQL " + how + full_disk_hint(messages, layout_) + "; the end of " +
                                   layout_.log.string() + ":\n" + messages};
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    log_line(log_level::info, "private_postgres_started")
        .field("pid", postmaster_->pid())
        .field("directory", layout_.data.string())
        .field("duration_ms", milliseconds_since(started));
    return {};
}

// All settings are passed here and none in postgresql.conf, so that an old directory runs with the settings
// of a new program.
std::vector<std::string> private_postgres::command_line() const
{
    std::vector<std::string> arguments{binaries_.program("postgres"), "-D", layout_.data.string()};
    const auto set = [&arguments](std::string_view name, const std::string& value) {
        arguments.push_back("--" + std::string(name) + "=" + value);
    };
    set("listen_addresses", "");
    set("unix_socket_directories", layout_.socket.string());
    set("unix_socket_permissions", "0700");
    set("port", "5432");
    set("max_connections", std::to_string(options_.max_connections));
    set("logging_collector", "off");

    // An acknowledged file is on the disk.
    set("fsync", "on");
    set("full_page_writes", "on");
    set("synchronous_commit", "on");

    // Uploads write a lot and read it once: enough buffers for the hot pages, and few, spread-out
    // checkpoints.
    set("shared_buffers", "256MB");
    set("max_wal_size", "4GB");
    set("checkpoint_timeout", "15min");
    // Our statements are short; compiling one takes longer than running it.
    set("jit", "off");
    return arguments;
}

private_postgres::readiness private_postgres::wait_until_ready(clock::time_point deadline)
{
    const account self{::geteuid(), ::getegid(), "", {}};
    const std::vector<std::string> ask{binaries_.program("pg_isready"), "-q", "-t", "2", "-p", "5432", "-h",
                                       layout_.socket.string()};
    const auto started = clock::now();
    auto next_progress = started + progress_interval;
    for (;;) {
        if (!postmaster_->alive())
            return readiness::ended;
        const auto answer = run_program(ask, self, std::chrono::seconds(5));
        if (answer.has_value() && answer->succeeded)
            return readiness::ready;
        const auto now = clock::now();
        if (now >= deadline)
            return readiness::late;
        if (options_.interrupted())
            return readiness::interrupted;
        if (now >= next_progress) {
            log_line(log_level::info, "private_postgres_waiting")
                .field("duration_ms", milliseconds_since(started));
            next_progress = now + progress_interval;
        }
        if (postmaster_->wait_for_end(std::chrono::milliseconds(20)))
            return readiness::ended;
    }
}

}  // namespace restante
