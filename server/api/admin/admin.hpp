#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct admin_services;

// The JSON behind the operator's view.
awaitable<response> handle_admin_overview(request_context& req, admin_services& svc);
awaitable<response> handle_admin_workspaces(request_context& req, admin_services& svc);
awaitable<response> handle_admin_series(request_context& req, admin_services& svc);

}  // namespace restante
