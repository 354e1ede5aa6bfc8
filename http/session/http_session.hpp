#pragma once

#include "core/asio.hpp"
#include "http/message/cors.hpp"
#include "http/session/request_metrics.hpp"
#include "http/routing/routes.hpp"
#include "server/api/services.hpp"

#include <span>

namespace restante {

class connection;

// What the sessions of one kind of listener share on a shard.
struct session_environment {
    std::span<const route> routes;
    services& svc;
    const cors_policy& cors;
    request_metrics& requests;
};

// Answers the requests of one connection, in the order they come in, until either side ends it. Nothing that
// a client does is a failure of the session: it throws only when it is cancelled or out of memory.
awaitable<void> run_session(connection& conn, const session_environment& env);

}  // namespace restante
