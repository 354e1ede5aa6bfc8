#pragma once

#include "core/asio.hpp"

#include <cstdint>

namespace restante {

class request_context;
struct push_services;
struct response;

// Sends the request's body on to the workspace as it arrives, and gives back what the workspace answers. The
// caller has found that files and messages for this workspace are forwarded.
//
// Refusals besides those of body_reader and callback_lookups: callback_url_not_allowed,
// workspace_unreachable. `max` is what a client is told when its body exceeds the cap of the body reader.
awaitable<response> forward_upload(request_context& req, push_services& svc, std::uint64_t max);
awaitable<response> forward_message(request_context& req, push_services& svc);

// GET /workspaces/{id}/chat/download?path=
awaitable<response> handle_chat_download(request_context& req, push_services& svc);

}  // namespace restante
