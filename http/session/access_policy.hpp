#pragma once

#include "core/asio.hpp"
#include "core/ids.hpp"
#include "http/message/public_errors.hpp"

#include <any>

namespace restante {

class request_context;

// Describes the caller to the handlers. HTTP passes it on and does not look inside.
class request_caller {
public:
    request_caller() = default;
    template <class Identity>
    static request_caller of(Identity who, bool proven, const uuid& account = {})
    {
        request_caller made;
        made.identity_ = std::move(who);
        made.proven_ = proven;
        made.account_ = account;
        return made;
    }

    // Null when it is something else, or nothing.
    template <class Identity>
    const Identity* as() const
    {
        return std::any_cast<Identity>(&identity_);
    }

    // Whether it has shown who it is. A stranger gets less memory and a connection that is closed sooner.
    bool proven() const { return proven_; }

    // What it holds is counted under this; nil: with everybody else's.
    const uuid& account() const { return account_; }

private:
    std::any identity_;
    bool proven_ = false;
    uuid account_{};
};

// Decides who may use a route that is not open, before any of the body is read.
class access_policy {
public:
    virtual ~access_policy() = default;

    // An error is answered instead of calling the handler.
    virtual awaitable<answerable<request_caller>> authorise(const request_context& request) = 0;
};

}  // namespace restante
