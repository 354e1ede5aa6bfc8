#pragma once

#include "storage/pq/result.hpp"
#include "storage/pq/statement.hpp"
#include "storage/status.hpp"

namespace restante {

// What `restante status` and the operator's page both ask for, and what is answered.
extern const statement read_database;
extern const statement read_sweep;
extern const statement read_replicas;  // $1: replica_prefix

result<database_facts> as_database(const pq::result_set& rows);
result<last_sweep> as_sweep(const pq::result_set& rows);
result<std::vector<replica>> as_replicas(const pq::result_set& rows);

}  // namespace restante
