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

// GET /readyz: 200 while requests can be served, else 503 with every reason.
awaitable<response> handle_readyz(request_context& req, operations_services& svc)
{
    auto reasons = svc.ready.reasons_not_ready();
    if (svc.requests.stop_requested())
        reasons.push_back("shutting down");
    if (reasons.empty())
        co_return req.json(http::status::ok, std::string(R"({"status":"ready"})"));

    json::array listed;
    for (const auto& reason : reasons)
        listed.emplace_back(reason);
    const json::value body = json::object{{"status", "not ready"}, {"reasons", std::move(listed)}};
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
