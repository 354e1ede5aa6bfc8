#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct operations_services;

awaitable<response> handle_healthz(request_context& req, operations_services& svc);
awaitable<response> handle_readyz(request_context& req, operations_services& svc);
awaitable<response> handle_version(request_context& req, operations_services& svc);
awaitable<response> handle_openapi(request_context& req, operations_services& svc);
awaitable<response> handle_metrics(request_context& req, operations_services& svc);

}  // namespace restante
