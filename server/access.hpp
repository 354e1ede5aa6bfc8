#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"

namespace restante {

class request_context;

// Who a request speaks for.
struct principal {
    enum class kind {
        nobody,     // an open route, or nobody asked
        workspace,  // a token of this workspace
        admin,
        dev,  // no bearer, from loopback, under --dev
    };
    kind who = kind::nobody;
    uuid workspace{};
    uuid token{};  // the token that opened the door, for revocations that arrive later
};

// Decides who may use a route that is not open to everybody, before any of the body is read.
class access_policy {
public:
    virtual ~access_policy() = default;

    // Errors: missing_token, invalid_token, too_many_failed_logins, forbidden, database_unavailable.
    virtual awaitable<result<principal>> authorise(const request_context& request) = 0;
};

}  // namespace restante
