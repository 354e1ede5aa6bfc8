#pragma once

#include "core/clock.hpp"
#include "http/message/host_policy.hpp"

namespace restante {

// Applies a host_policy to the requests of one kind of listener, and writes at most one refusal a minute to
// the log: behind a proxy that keeps the public Host, every request would be one.
class host_check {
public:
    explicit host_check(host_policy policy) : policy_(std::move(policy)) {}

    // False: to be answered with host_not_allowed.
    bool admits(const request_header& head, clock::time_point now);

private:
    host_policy policy_;
    clock::time_point next_line_{};
};

}  // namespace restante
