#include "server/api/operations/process_metrics.hpp"

#include "core/log_sink.hpp"
#include "server/spool/spool_budget.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

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
    auto& memory = metrics.gauge("molecule_body_memory_bytes", "Request bodies held in memory.");
    auto& disk = metrics.gauge("molecule_spool_bytes", "Request bodies spooled to disk.");
    auto& unlogged = metrics.counter("molecule_log_lines_dropped_total",
                                     "Log lines lost because the log was not read or could not be written.");
    metrics.before_scrape([&] {
        unlogged.set(static_cast<double>(log_lines_dropped()));
        memory.set(static_cast<double>(spools.memory_used()));
        disk.set(static_cast<double>(spools.disk_used()));
    });
}

}  // namespace restante
