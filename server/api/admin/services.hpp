#pragma once

#include "storage/figures.hpp"
#include "storage/pq/pool.hpp"
#include "storage/quota.hpp"
#include "storage/waiting_list.hpp"

namespace restante {

class content_stores;
class recent_series;

// What the operator's figures are made of.
struct admin_services {
    pq::connection_pool& db;
    figures_store& figures;
    const recent_series& recent;
    waiting_list& waiting;
    const content_stores& contents;
    quota_limits quotas;  // of workspaces that have none of their own
};

}  // namespace restante
