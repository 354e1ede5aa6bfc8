#pragma once

#include "http/routing/handler.hpp"

namespace restante {

// GET /ws: the events of the token's workspace, or of all (or ?workspace_id=) for the admin.
handler_function handle_websocket;

// GET /workspaces/{id}/events/stream: the same as Server-Sent Events; Last-Event-ID resumes.
handler_function handle_event_stream;

}  // namespace restante
