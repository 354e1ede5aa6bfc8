#include "storage/pq/sqlstate.hpp"

namespace restante::pq {

errc errc_from_sqlstate(std::string_view code)
{
    if (code == "23505")
        return errc::unique_violation;
    if (code.starts_with("23") || code.starts_with("22"))
        return errc::check_violation;
    if (code == "42P01" || code == "42703" || code == "42883" || code == "3F000")
        return errc::schema_missing;
    if (code == "57014" || code == "55P03")
        return errc::database_timeout;
    if (code == "25006")
        return errc::database_unsafe;
    if (code == "40001" || code == "40P01")
        return errc::serialization_failure;
    if (code == "25P02")
        return errc::transaction_aborted;
    // The server is shutting down, still starting, or out of connections, memory or disk.
    if (code.starts_with("57P") || code.starts_with("08") || code.starts_with("53") || code.starts_with("58"))
        return errc::database_unavailable;
    // Raised by our functions.
    if (code == "RS001")
        return errc::workspace_not_found;
    if (code == "RS002")
        return errc::invalid_token;
    if (code == "RS003")
        return errc::grant_exhausted;
    if (code == "RS004")
        return errc::quota_exceeded;
    return errc::sql_error;
}

}  // namespace restante::pq
