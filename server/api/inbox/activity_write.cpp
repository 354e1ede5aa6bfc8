// POST /workspaces/{id}/activity and POST /workspaces/{id}/a2a: rows that come in one by one, with the same
// certainty as an upload.
#include "auth/authenticator.hpp"
#include "http/message/json_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/inbox/activity_form.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "server/api/push/forward.hpp"
#include "storage/staging.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace restante {

namespace {

// PostgreSQL's text cannot hold every character that JSON can.
refusal refusal_of(const error_code& ec)
{
    if (ec == errc::check_violation)
        return {errc::bad_request, "a text holds a character that cannot be stored"};
    if (ec == errc::sql_error)
        return errc::could_not_log;
    return refusal_of_write(ec);
}

// The same key with another body, or on the other route, is another request.
digest32 fingerprint_of(const request_context& req, std::string_view body)
{
    sha256 hash;
    hash.update(req.path());
    hash.update("\n");
    hash.update(body);
    return hash.finish();
}

upload make_request(const request_context& req, activity row, std::string answer)
{
    upload made{.workspace = req.workspace_id(), .token = token_of(caller_of(req))};
    auto entry = std::make_shared<feed_entry>();
    entry->what = std::move(row);
    made.activities.push_back(std::move(entry));
    made.answer = std::make_shared<const std::string>(std::move(answer));
    return made;
}

// Stores the row and answers; a repeated request gets the first answer.
awaitable<response> store(const request_context& req, inbox_services& svc, upload row)
{
    const auto answer = row.answer;
    auto stored = co_await svc.stage.stage(std::move(row));
    if (!stored)
        co_return req.fail(refusal_of(stored.error()));
    if (!stored->earlier_answer)
        co_return req.json(http::status::ok, *answer);
    auto again = req.json(http::status::ok, std::move(*stored->earlier_answer));
    mark_as_replay(again);
    co_return again;
}

// What is taken from a body.
struct given_row {
    activity row;
    digest32 fingerprint;
    std::optional<std::string> message_id = {};
};

// The parsed bodies end with these: they may take many times the memory of their text, and must not be held
// while the database is asked.
awaitable<answerable<given_row>> read_report(request_context& req)
{
    const auto text = co_await req.text_body();
    if (!text)
        co_return refusal(text.error());
    const auto body = parse_json(*text);
    if (!body)
        co_return refusal(body.error());
    auto row = read_activity_report(req.workspace_id(), *text, *body);
    if (!row)
        co_return row.error();
    co_return given_row{std::move(*row), fingerprint_of(req, *text)};
}

awaitable<answerable<given_row>> read_message(request_context& req)
{
    auto text = co_await req.text_body();
    if (!text)
        co_return refusal(text.error());
    const auto body = parse_json(*text);
    if (!body)
        co_return refusal(body.error());
    const auto fingerprint = fingerprint_of(req, *text);
    auto row = read_a2a_message(req.workspace_id(), std::move(*text), *body);
    if (!row)
        co_return row.error();
    co_return given_row{std::move(*row), fingerprint, message_id_of(*body)};
}

}  // namespace

awaitable<response> handle_activity_report(request_context& req, inbox_services& svc)
{
    auto key = read_idempotency_key(req);
    if (!key)
        co_return req.fail(key.error());
    auto given = co_await read_report(req);
    if (!given)
        co_return req.fail(given.error());
    auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    auto made = make_request(req, std::move(given->row), R"({"status":"logged"})");
    if (*key)
        made.keys.push_back(request_key::of_client(std::move(**key), given->fingerprint));
    co_return co_await store(req, svc, std::move(made));
}

awaitable<response> handle_a2a(request_context& req, inbox_services& svc)
{
    const auto workspace = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!workspace)
        co_return req.fail(workspace.error());
    const auto way = decide_delivery(*workspace);
    if (!way)
        co_return req.fail(way.error());
    if (*way == delivery::forward)
        co_return co_await forward_message(req, svc.push);
    auto key = read_idempotency_key(req);
    if (!key)
        co_return req.fail(key.error());
    auto given = co_await read_message(req);
    if (!given)
        co_return req.fail(given.error());
    const boost::json::object answer{
        {"status", "queued"}, {"delivery_mode", "poll"}, {"method", *given->row.method}};
    auto made = make_request(req, std::move(given->row), boost::json::serialize(answer));
    if (*key)
        made.keys.push_back(request_key::of_client(std::move(**key), given->fingerprint));
    if (given->message_id)
        made.keys.push_back(request_key::of_message(*given->message_id, svc.message_lifetime));
    co_return co_await store(req, svc, std::move(made));
}

}  // namespace restante
