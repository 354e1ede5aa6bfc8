#pragma once

#include "core/error.hpp"
#include "core/task_group.hpp"
#include "http/session/request_context.hpp"
#include "server/events/parked_requests.hpp"

namespace restante {

// A read that may have to be repeated until there is something to answer with.
class parked_read {
public:
    virtual ~parked_read() = default;

    virtual awaitable<error_code> read() = 0;
    // What was read can be answered with.
    virtual bool enough() const = 0;
    // What was read is complete up to here.
    virtual std::int64_t reaches() const = 0;
};

// Reads until there is something to answer with, the time is over, the client has gone or the server stops.
// Fails with no_room when too many wait, with invalid_token as soon as the token is known to be revoked, and
// with the errors of the read.
awaitable<error_code> read_or_wait(request_context& req, task_group& requests, parked_requests& among,
                                   uuid about, const principal& who, std::chrono::seconds limit,
                                   parked_read& what);

}  // namespace restante
