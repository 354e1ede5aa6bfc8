#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct receipts_services;

// What became of an uploaded file.
awaitable<response> handle_receipt(request_context& req, receipts_services& svc);

}  // namespace restante
