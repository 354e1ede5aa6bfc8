#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct files_services;

// Staged files: list, fetch, ack.
awaitable<response> handle_pending_list(request_context& req, files_services& svc);
awaitable<response> handle_content(request_context& req, files_services& svc);
awaitable<response> handle_ack(request_context& req, files_services& svc);
awaitable<response> handle_ack_batch(request_context& req, files_services& svc);

}  // namespace restante
