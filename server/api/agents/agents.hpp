#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct agents_services;

// POST /registry/heartbeat: an agent is there, and says how it is doing.
awaitable<response> handle_heartbeat(request_context& req, agents_services& svc);

// GET /workspaces/{id}/state: whether an agent should go on.
awaitable<response> handle_state(request_context& req, agents_services& svc);

// GET /registry/{id}/peers: the workspaces that this one may talk to.
awaitable<response> handle_peers(request_context& req, agents_services& svc);

// GET /registry/discover/{id}: one of them.
awaitable<response> handle_discover(request_context& req, agents_services& svc);

// GET /workspaces/{id}
awaitable<response> handle_workspace_show(request_context& req, agents_services& svc);

// PATCH /workspaces/{id}: its name and role.
awaitable<response> handle_workspace_change(request_context& req, agents_services& svc);

// GET /workspaces, POST /workspaces: for the admin.
awaitable<response> handle_workspace_list(request_context& req, agents_services& svc);
awaitable<response> handle_workspace_create(request_context& req, agents_services& svc);

}  // namespace restante
