#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct page_services;

// The page, at each of its addresses, and the files that it loads. They are the same for everybody and hold
// nothing that is stored; what they show, they ask the API for with the visitor's token.
awaitable<response> handle_page(request_context& req, page_services& svc);
awaitable<response> handle_asset(request_context& req, page_services& svc);

}  // namespace restante
