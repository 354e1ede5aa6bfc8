#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct grants_services;

// Upload grants of a workspace: bearers that are good for a limited number of uploads, for people who must
// not see what else the workspace holds.
awaitable<response> handle_grant_mint(request_context& req, grants_services& svc);
awaitable<response> handle_grant_list(request_context& req, grants_services& svc);
awaitable<response> handle_grant_revoke(request_context& req, grants_services& svc);

// What the caller's own token is good for, and for which workspace: a grant does not say so itself.
awaitable<response> handle_token_view(request_context& req, grants_services& svc);

}  // namespace restante
