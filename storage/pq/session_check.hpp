#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <string>

namespace restante::pq {

class connection;

// Makes a new session ours, in one round trip: its settings, its search path, a mark. Fails with
// database_unsafe if it already bears a mark: then a connection pooler lends one session to several clients.
// why receives the reason. Whether the session is safe to use is asked along and kept in
// connection::fault().
awaitable<error_code> begin_session(connection& session, std::string& why);

// Rejects a session on which a confirmed commit could be lost or is impossible: read-only, a standby, not
// UTF8, fsync or full_page_writes off, synchronous_commit off; in this session, or in the next one of this
// role and database. Fails with database_unsafe; why receives the reason.
awaitable<error_code> check_session(connection& session, std::string& why);

}  // namespace restante::pq
