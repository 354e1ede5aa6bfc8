#include "server/api/operations/operations.hpp"

#include "core/task_group.hpp"
#include "http/session/request_context.hpp"
#include "server/api/operations/readiness.hpp"
#include "server/api/operations/services.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace restante {

namespace json = boost::json;

// GET /healthz, liveness: the process runs and this shard handles requests. Nothing else is checked, so that
// an unavailable database does not get every replica restarted.
awaitable<response> handle_healthz(request_context& req, operations_services&)
{
    co_return req.json(http::status::ok, std::string(R"({"status":"ok"})"));
}

namespace {

json::array as_array(const std::vector<std::string>& sentences)
{
    json::array listed;
    for (const auto& each : sentences)
        listed.emplace_back(each);
    return listed;
}

}  // namespace

// GET /readyz: 200 while requests can be served, with what does not work meanwhile; else 503 with every
// reason.
awaitable<response> handle_readyz(request_context& req, operations_services& svc)
{
    auto reasons = co_await svc.reasons_not_ready();
    if (svc.requests.stop_requested())
        reasons.push_back("shutting down");
    const auto degraded = svc.ready.degradations();
    if (reasons.empty() && degraded.empty())
        co_return req.json(http::status::ok, std::string(R"({"status":"ready"})"));
    if (reasons.empty()) {
        const json::value body = json::object{{"status", "ready"}, {"degraded", as_array(degraded)}};
        co_return req.json(http::status::ok, body);
    }

    const json::value body = json::object{{"status", "not ready"}, {"reasons", as_array(reasons)}};
    auto answer = req.json(http::status::service_unavailable, body);
    answer.head.set(http::field::cache_control, "no-store");
    answer.head.set(http::field::retry_after, "1");
    co_return answer;
}

awaitable<response> handle_version(request_context& req, operations_services&)
{
    const json::value body = json::object{{"name", "restante"}, {"version", RESTANTE_VERSION}};
    co_return req.json(http::status::ok, body);
}

// GET /openapi.json: made once, when the process starts.
awaitable<response> handle_openapi(request_context& req, operations_services& svc)
{
    co_return req.list(svc.openapi);
}

// GET /metrics, on its own listener only.
awaitable<response> handle_metrics(request_context& req, operations_services& svc)
{
    auto text = co_await svc.scrape();
    if (!text)
        co_return req.fail(text.error());
    response answer;
    answer.head.result(http::status::ok);
    answer.head.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    answer.body = std::move(*text);
    co_return answer;
}

}  // namespace restante
