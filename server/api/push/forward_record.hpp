#pragma once

#include "http/session/request_context.hpp"
#include "server/api/push/push_metrics.hpp"

#include <chrono>

namespace restante {

// One forward in the log and the metrics. Exactly one of the ends is noted.
class forward_record {
public:
    forward_record(const request_context& req, push_metrics& metrics, forward_kind kind)
        : req_(req), metrics_(metrics), kind_(kind)
    {
    }

    void answered(unsigned status, std::uint64_t sent, std::uint64_t received);
    // `host` is that of the callback URL; the URL itself may hold more than a log should.
    void failed(const error_code& why, std::string_view host, std::uint64_t sent, std::uint64_t received);

private:
    using clock = std::chrono::steady_clock;

    void count(forward_outcome outcome, std::uint64_t sent, std::uint64_t received);
    double milliseconds() const;

    const request_context& req_;
    push_metrics& metrics_;
    forward_kind kind_;
    clock::time_point begun_ = clock::now();
};

}  // namespace restante
