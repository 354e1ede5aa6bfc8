#pragma once

#include "core/asio.hpp"
#include "core/memory_budget.hpp"
#include "http/message/cors.hpp"
#include "http/routing/routes.hpp"
#include "http/session/access_policy.hpp"
#include "http/session/host_check.hpp"
#include "http/session/request_metrics.hpp"

#include <span>

namespace restante {

class connection;

struct session_timeouts {
    std::chrono::milliseconds header = std::chrono::seconds(10);  // for the whole head of a request
    std::chrono::milliseconds idle = std::chrono::seconds(60);    // between two requests
    // A token may be revoked while a body arrives. When that took longer, the caller is authorised once more.
    std::chrono::milliseconds caller = std::chrono::seconds(1);
};

// What the sessions of one kind of listener share on a shard. All of it outlives them.
struct session_environment {
    std::span<const route> routes;
    const cors_policy& cors;
    request_metrics& metrics;
    access_policy* access = nullptr;  // null where every route is open
    session_timeouts timeouts = {};
    host_check* hosts = nullptr;      // null where every Host is served
    memory_budget* memory = nullptr;  // null: unlimited
};

// Answers the requests of one connection, in the order they come in, until either side ends it. Nothing that
// a client does is a failure of the session: it throws only when it is cancelled or out of memory.
awaitable<void> run_session(connection& conn, const session_environment& env);

}  // namespace restante
