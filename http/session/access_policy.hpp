#pragma once

#include "auth/principal.hpp"
#include "core/asio.hpp"
#include "core/error.hpp"

namespace restante {

class request_context;

// Decides who may use a route that is not open to everybody, before any of the body is read.
class access_policy {
public:
    virtual ~access_policy() = default;

    // Errors: missing_token, invalid_token, too_many_failed_logins, and those of the database.
    virtual awaitable<result<principal>> authorise(const request_context& request) = 0;

    // A handler found the caller wanting in the end, because what is asked for stands in the body.
    virtual void note_rejection(const request_context&, const error_code&) {}
};

}  // namespace restante
