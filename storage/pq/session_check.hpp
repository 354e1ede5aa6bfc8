#pragma once

#include "storage/pq/connection.hpp"

namespace restante::pq {

// Rejects a session on which a confirmed commit could be lost or is impossible: read-only, a standby, not
// UTF8, fsync or full_page_writes off, synchronous_commit off. Fails with database_unsafe; why receives the
// reason.
awaitable<error_code> check_session(connection& session, std::string& why);

}  // namespace restante::pq
