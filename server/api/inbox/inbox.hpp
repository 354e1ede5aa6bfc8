#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct inbox_services;

// The feed: read it, wait for it to grow, add to it, store how far a client has read.
awaitable<response> handle_activity(request_context& req, inbox_services& svc);
awaitable<response> handle_activity_report(request_context& req, inbox_services& svc);
awaitable<response> handle_a2a(request_context& req, inbox_services& svc);
awaitable<response> handle_notify(request_context& req, inbox_services& svc);
awaitable<response> handle_chat_history(request_context& req, inbox_services& svc);
awaitable<response> handle_cursor_read(request_context& req, inbox_services& svc);
awaitable<response> handle_cursor_advance(request_context& req, inbox_services& svc);

// GET /ws: the events of the token's workspace, or of all (or ?workspace_id=) for the admin.
awaitable<response> handle_websocket(request_context& req, inbox_services& svc);

// GET /workspaces/{id}/events/stream: the same as Server-Sent Events; Last-Event-ID resumes.
awaitable<response> handle_event_stream(request_context& req, inbox_services& svc);

}  // namespace restante
