#pragma once

#include "core/asio.hpp"

#include <cstdint>

namespace restante {

class request_context;
struct response;
struct upload_services;

// What a form may need besides the bytes of its files.
inline constexpr std::uint64_t framing_allowance = 256 * 1024;

// POST /workspaces/{id}/chat/uploads: stages every file of the form, or none of them.
awaitable<response> handle_upload(request_context& req, upload_services& svc);

// GET /uploads/limits: what this server takes, for clients that ask before they send.
awaitable<response> handle_upload_limits(request_context& req, upload_services& svc);

}  // namespace restante
