#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "storage/pq/session_facts.hpp"

#include <string>

namespace restante::pq {

class connection;

// Makes a new session ours, in one round trip: its settings, its search path, a mark. Fails with
// database_unsafe if it already bears a mark: then a connection pooler lends one session to several clients.
// why receives the reason. Whether the session is safe to use is asked along and kept in
// connection::verdict().
awaitable<error_code> begin_session(connection& session, std::string& why);

// Asks again whether a confirmed commit could be lost or is impossible: read-only, a standby, a former
// primary, not UTF8, fsync or full_page_writes off, commits that wait for less than they should; in this
// session, or in the next one of this role and database. Of a session that is to lead to a standby it asks
// whether it does, and to one of the primary's cluster.
awaitable<result<session_verdict>> check_session(connection& session);

}  // namespace restante::pq
