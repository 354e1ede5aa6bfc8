// GET and POST /workspaces/{id}/activity/ack: a cursor that the server keeps, only ever forward.
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "storage/inbox_cursors.hpp"

namespace restante {

namespace {

response answer_seq(const request_context& req, const result<std::int64_t>& seq)
{
    if (!seq)
        return req.fail(seq.error());
    return req.json(http::status::ok, "{\"last_acked_seq\":" + std::to_string(*seq) + "}");
}

}  // namespace

awaitable<response> handle_cursor_read(request_context& req, inbox_services& svc)
{
    const auto seq = co_await svc.cursors.read(req.workspace_id());
    co_return answer_seq(req, seq);
}

awaitable<response> handle_cursor_advance(request_context& req, inbox_services& svc)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return req.fail(body.error());
    const auto* object = body->if_object();
    const auto* given = object ? object->if_contains("acked_seq") : nullptr;
    const auto* seq = given ? given->if_int64() : nullptr;
    if (!seq || *seq < 0)
        co_return req.fail(refusal(errc::bad_request, "acked_seq must be a whole number, 0 or more"));
    const auto reached = co_await svc.cursors.advance(req.workspace_id(), *seq);
    co_return answer_seq(req, reached);
}

}  // namespace restante
