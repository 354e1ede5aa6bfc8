#pragma once

#include "server/handler.hpp"

namespace restante {

// GET /ws: the events of the token's workspace, or of all (or ?workspace_id=) for the admin.
awaitable<response> handle_websocket(request_context& req, services& svc);

// GET /workspaces/{id}/events/stream: the same as Server-Sent Events; Last-Event-ID resumes.
awaitable<response> handle_event_stream(request_context& req, services& svc);

}  // namespace restante
