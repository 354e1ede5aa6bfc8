#include "server/api/operations/process_metrics.hpp"

#include "core/log_sink.hpp"
#include "server/spool/spool_budget.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

namespace {

void add_memory_metrics(metric_set& metrics, const memory_budget& memory, memory_use what)
{
    const auto name = memory_use_names[static_cast<std::size_t>(what)];
    auto& held = metrics.gauge("molecule_body_memory_bytes", "Memory that is held for clients, by use.",
                               {{"use", name}});
    auto& refused =
        metrics.counter("molecule_body_memory_refused_total",
                        "Times that there was no memory; files go to disk then.", {{"use", name}});
    metrics.before_scrape([&memory, &held, &refused, what] {
        held.set(static_cast<double>(memory.used(what)));
        refused.set(static_cast<double>(memory.refusals(what)));
    });
}

}  // namespace

void add_pool_metrics(metric_set& metrics, const pq::connection_pool& db)
{
    auto& in_use = metrics.gauge("molecule_database_connections_in_use", "Database connections at work.");
    auto& idle =
        metrics.gauge("molecule_database_connections_idle", "Database connections open and not at work.");
    auto& waiting =
        metrics.gauge("molecule_database_waiting", "Requests that wait for a database connection.");
    auto& connects = metrics.counter("molecule_database_connects_total",
                                     "Database connections opened; it grows when they are lost.");
    auto& unready = metrics.gauge("molecule_database_unready_shards",
                                  "Threads whose database does not answer or is not safe to use.");
    metrics.before_scrape([&] {
        const auto now = db.status();
        in_use.set(now.in_use);
        idle.set(now.idle);
        waiting.set(static_cast<double>(now.waiting));
        connects.set(static_cast<double>(now.connects));
        unready.set(now.ready ? 0 : 1);
    });
}

void add_process_metrics(metric_set& metrics, const spool_budget& spools)
{
    metrics
        .gauge("molecule_build_info", "Always 1; the label is the version.", {{"version", RESTANTE_VERSION}})
        .set(1);
    for (std::size_t i = 0; i < memory_use_names.size(); ++i)
        add_memory_metrics(metrics, spools.memory, static_cast<memory_use>(i));
    auto& disk = metrics.gauge("molecule_spool_bytes", "Disk that spooled files hold or have reserved.");
    auto& refused = metrics.counter("molecule_spool_refused_total",
                                    "Uploads and downloads that found no room in the spool.");
    auto& unlogged = metrics.counter("molecule_log_lines_dropped_total",
                                     "Log lines lost because the log was not read or could not be written.");
    metrics.before_scrape([&] {
        unlogged.set(static_cast<double>(log_lines_dropped()));
        disk.set(static_cast<double>(spools.disk.used()));
        refused.set(static_cast<double>(spools.disk_refusals.load()));
    });
}

}  // namespace restante
