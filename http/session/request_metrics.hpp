#pragma once

#include "core/metrics.hpp"
#include "http/routing/routes.hpp"

#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <span>
#include <vector>

namespace restante {

// molecule_http_requests_total and molecule_http_request_duration_seconds of one shard. Series are looked up
// by their labels once and remembered, so that a request costs two additions.
class request_metrics {
public:
    request_metrics(metric_set& metrics, std::span<const route> routes);

    // `matched` is one of the routes, or null for a path that none has.
    void observe(const route* matched, boost::beast::http::verb method, unsigned status,
                 std::chrono::steady_clock::duration took);

private:
    struct counted {
        boost::beast::http::verb method;
        unsigned status;
        metric_set::number* requests;
    };
    struct timed {
        boost::beast::http::verb method;
        metric_set::histogram* seconds;
    };
    struct series {
        std::vector<counted> by_status;
        std::vector<timed> by_method;
    };

    metric_set::number& requests(series& of, const route* matched, boost::beast::http::verb method,
                                 unsigned status);
    metric_set::histogram& seconds(series& of, const route* matched, boost::beast::http::verb method);

    metric_set& metrics_;
    std::span<const route> routes_;
    std::vector<series> series_;  // as routes_, and one more for unmatched paths
};

}  // namespace restante
