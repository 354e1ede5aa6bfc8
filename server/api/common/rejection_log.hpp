#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/metrics.hpp"

#include <cstdint>

namespace restante {

class request_context;

// Reports requests that failed authentication: all of them in the metrics, and up to ten a second in the log.
// The first line after a pause says how many were left out, so that a flood fills a counter and not a disk.
class rejection_log {
public:
    static constexpr int lines_a_second = 10;

    explicit rejection_log(metric_set& metrics);

    void note(const request_context& request, const error_code& why, clock::time_point now);

private:
    bool may_write(clock::time_point now);

    metric_set::number& missing_;
    metric_set::number& invalid_;
    metric_set::number& scope_;
    metric_set::number& too_many_;
    metric_set::number& cross_site_;
    clock::time_point second_began_{};
    int written_ = 0;
    std::uint64_t left_out_ = 0;
};

}  // namespace restante
