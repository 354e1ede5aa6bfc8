// GET /admin/overview: the whole place at a glance, at the same price however much it holds.
#include "storage/overview.hpp"

#include "http/session/request_context.hpp"
#include "server/api/admin/admin.hpp"
#include "server/api/admin/services.hpp"
#include "server/api/common/json_values.hpp"
#include "storage/content/content_stores.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace restante {

namespace {

namespace json = boost::json;

json::object to_json(const database_facts& database)
{
    return {{"name", database.name},
            {"version", database.version},
            {"bytes", database.bytes},
            {"schema", database.schema}};
}

json::object to_json(const bounded_workspaces& workspaces)
{
    return {{"poll", workspaces.poll},
            {"push", workspaces.push},
            {"awaiting_agent", workspaces.agents.awaited},
            {"online", workspaces.agents.online},
            {"degraded", workspaces.agents.degraded},
            {"offline", workspaces.agents.offline},
            {"at_least", workspaces.at_least()}};
}

json::object to_json(const unacked_uploads& waiting)
{
    json::value oldest = nullptr;
    if (waiting.files > 0 && waiting.oldest_seconds)
        oldest = *waiting.oldest_seconds;
    return {{"files", waiting.files},
            {"bytes", waiting.bytes},
            {"never_fetched", waiting.never_fetched},
            {"fetched", waiting.fetched()},
            {"oldest_seconds", std::move(oldest)},
            {"estimated", waiting.estimated}};
}

json::object to_json(const last_sweep& sweep)
{
    return {{"started_at", value_or_null(sweep.started_at)},
            {"finished_at", value_or_null(sweep.finished_at)},
            {"acked", sweep.acked},
            {"expired", sweep.expired},
            {"error", value_or_null(sweep.error)}};
}

json::array to_json(const std::vector<replica>& servers)
{
    json::array listed;
    for (const auto& each : servers)
        listed.push_back(json::object{{"name", each.name},
                                      {"address", each.address},
                                      {"connections", each.connections},
                                      {"since", rfc3339(each.since)}});
    return listed;
}

// Where files of some size go, and what is wrong with any of the places.
json::object to_json(const content_stores& contents)
{
    json::value trouble = nullptr;
    for (const auto& each : contents.troubles())
        trouble = trouble.is_null() ? each : std::string(trouble.as_string()) + "; " + each;
    return {{"kind", name_of(contents.policy().store)}, {"trouble", std::move(trouble)}};
}

}  // namespace

awaitable<response> handle_admin_overview(request_context& req, admin_services& svc)
{
    const auto report = co_await read_overview(svc.db);
    if (!report)
        co_return req.fail(report.error());
    const json::object body{
        {"version", RESTANTE_VERSION},
        {"now", rfc3339(report->database.now)},
        {"waiting", to_json(report->waiting)},
        {"workspaces", to_json(report->workspaces)},
        {"quota", json::object{{"max_bytes", svc.quotas.bytes}, {"max_files", svc.quotas.files}}},
        {"sweep", to_json(report->sweep)},
        {"servers", to_json(report->replicas)},
        {"database", to_json(report->database)},
        {"content_store", to_json(svc.contents)}};
    co_return req.list(json::serialize(body));
}

}  // namespace restante
