#include "http/session/request_metrics.hpp"

#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <string>

namespace restante {

namespace {

// Both come from closed sets, whatever a client sends.
std::string_view method_label(boost::beast::http::verb method)
{
    if (method == boost::beast::http::verb::unknown)
        return "other";
    return boost::beast::http::to_string(method);
}

std::string_view path_label(const route* matched)
{
    return matched ? matched->pattern.text() : std::string_view("unmatched");
}

}  // namespace

request_metrics::request_metrics(metric_set& metrics, std::span<const route> routes)
    : metrics_(metrics), routes_(routes), series_(routes.size() + 1)
{
}

void request_metrics::observe(const route* matched, boost::beast::http::verb method, unsigned status,
                              std::chrono::steady_clock::duration took)
{
    const auto index = matched ? static_cast<std::size_t>(matched - routes_.data()) : routes_.size();
    auto& of = series_[index];
    requests(of, matched, method, status).add();
    seconds(of, matched, method).observe(std::chrono::duration<double>(took).count());
}

metric_set::number& request_metrics::requests(series& of, const route* matched,
                                              boost::beast::http::verb method, unsigned status)
{
    for (const auto& known : of.by_status)
        if (known.status == status && known.method == method)
            return *known.requests;
    auto& made = metrics_.counter("molecule_http_requests_total", "Requests answered, by route template.",
                                  {{"method", method_label(method)},
                                   {"path", path_label(matched)},
                                   {"status", std::to_string(status)}});
    of.by_status.push_back({method, status, &made});
    return made;
}

metric_set::histogram& request_metrics::seconds(series& of, const route* matched,
                                                boost::beast::http::verb method)
{
    for (const auto& known : of.by_method)
        if (known.method == method)
            return *known.seconds;
    auto& made = metrics_.seconds("molecule_http_request_duration_seconds",
                                  "From the complete head of a request to the last byte of its answer.",
                                  {{"method", method_label(method)}, {"path", path_label(matched)}});
    of.by_method.push_back({method, &made});
    return made;
}

}  // namespace restante
