// POST /workspaces/{id}/activity and POST /workspaces/{id}/a2a: rows that come in one by one, each in a
// transaction of its own.
#include "auth/authenticator.hpp"
#include "http/message/json_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/inbox/activity_form.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "storage/activity_log.hpp"

#include <boost/json/object.hpp>

namespace restante {

namespace {

// PostgreSQL's text cannot hold every character that JSON can.
refusal refusal_of(const error_code& ec)
{
    if (ec == errc::check_violation)
        return {errc::bad_request, "a text holds a character that cannot be stored"};
    if (ec == errc::sql_error)
        return errc::could_not_log;
    return ec;
}

}  // namespace

awaitable<response> handle_activity_report(request_context& req, inbox_services& svc)
{
    const auto text = co_await req.text_body();
    if (!text)
        co_return req.fail(text.error());
    const auto body = parse_json(*text);
    if (!body)
        co_return req.fail(body.error());
    auto row = read_activity_report(req.workspace_id(), *text, *body);
    if (!row)
        co_return req.fail(row.error());
    auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    auto logged = co_await svc.activity.log_activity(std::move(*row));
    if (!logged)
        co_return req.fail(refusal_of(logged.error()));
    co_return req.json(http::status::ok, std::string("{\"status\":\"logged\"}"));
}

awaitable<response> handle_a2a(request_context& req, inbox_services& svc)
{
    auto text = co_await req.text_body();
    if (!text)
        co_return req.fail(text.error());
    const auto body = parse_json(*text);
    if (!body)
        co_return req.fail(body.error());
    auto row = read_a2a_message(req.workspace_id(), std::move(*text), *body);
    if (!row)
        co_return req.fail(row.error());
    auto workspace = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!workspace)
        co_return req.fail(workspace.error());
    if (const auto here = check_delivery(*workspace); !here)
        co_return req.fail(here.error());
    const boost::json::object answer{
        {"status", "queued"}, {"delivery_mode", "poll"}, {"method", *row->method}};
    auto logged = co_await svc.activity.log_activity(std::move(*row));
    if (!logged)
        co_return req.fail(refusal_of(logged.error()));
    co_return req.json(http::status::ok, answer);
}

}  // namespace restante
