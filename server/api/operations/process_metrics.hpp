#pragma once

#include "core/metrics.hpp"

namespace restante {

struct spool_budget;

namespace pq {
class connection_pool;
}

// Gauges that are read from their owners at each scrape; these must live as long as the metrics are scraped.

// One shard's database connections.
void add_pool_metrics(metric_set& metrics, const pq::connection_pool& db);

// What the whole process has only once: for one shard's metrics.
void add_process_metrics(metric_set& metrics, const spool_budget& spools);

}  // namespace restante
