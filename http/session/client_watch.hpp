#pragma once

#include "http/session/request_context.hpp"

namespace restante {

// Hears the client hang up while it is in scope.
class client_watch {
public:
    client_watch(request_context& req, std::function<void()> on_gone) : req_(req)
    {
        req_.on_client_gone(std::move(on_gone));
    }
    ~client_watch() { req_.forget_client(); }
    client_watch(const client_watch&) = delete;
    client_watch& operator=(const client_watch&) = delete;

private:
    request_context& req_;
};

}  // namespace restante
