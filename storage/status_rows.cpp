#include "storage/status_rows.hpp"

namespace restante {

const statement read_database{"status_database",
                              "SELECT current_database()::text, current_setting('server_version'), "
                              "pg_database_size(current_database()), "
                              "(SELECT coalesce(max(number), 0)::int8 FROM schema_migrations), now()"};

const statement read_sweep{
    "status_sweep",
    "SELECT last_started_at, last_finished_at, last_acked, last_expired, last_error FROM sweeper_state"};

// Roles that are not members of pg_read_all_stats do not see the names of other roles' sessions.
const statement read_replicas{
    "status_replicas",
    "SELECT substr(application_name, length($1::text) + 1), coalesce(host(client_addr), 'local'), count(*), "
    "min(backend_start) FROM pg_stat_activity "
    "WHERE datname = current_database() AND starts_with(application_name, $1::text) "
    "GROUP BY 1, 2 ORDER BY 1, 2"};

result<database_facts> as_database(const pq::result_set& rows)
{
    return rows[0].into<database_facts, std::string, std::string, std::int64_t, std::int64_t, timestamp>();
}

result<last_sweep> as_sweep(const pq::result_set& rows)
{
    using moment = std::optional<timestamp>;
    return rows[0].into<last_sweep, moment, moment, std::int64_t, std::int64_t, std::optional<std::string>>();
}

result<std::vector<replica>> as_replicas(const pq::result_set& rows)
{
    return rows.all<replica, std::string, std::string, std::int64_t, timestamp>();
}

}  // namespace restante
