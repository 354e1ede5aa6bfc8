#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct workspaces_services;

// POST /registry/register: a workspace introduces itself, or reports what has changed.
awaitable<response> handle_register(request_context& req, workspaces_services& svc);

// DELETE /workspaces/{id}?confirm=true: closes a workspace for good. Its staged files stay until they expire.
awaitable<response> handle_workspace_remove(request_context& req, workspaces_services& svc);

// The tokens of a workspace. Several may be live at once, so that one can be replaced without a gap.
awaitable<response> handle_token_mint(request_context& req, workspaces_services& svc);
awaitable<response> handle_admin_token_mint(request_context& req, workspaces_services& svc);
awaitable<response> handle_token_list(request_context& req, workspaces_services& svc);
awaitable<response> handle_token_revoke(request_context& req, workspaces_services& svc);

// How much may wait for a workspace.
awaitable<response> handle_quota_read(request_context& req, workspaces_services& svc);
awaitable<response> handle_quota_change(request_context& req, workspaces_services& svc);

}  // namespace restante
