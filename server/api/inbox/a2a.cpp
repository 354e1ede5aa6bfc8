// POST /workspaces/{id}/a2a: a message for the workspace, from the canvas or from another workspace.
#include "auth/authenticator.hpp"
#include "core/json_text.hpp"
#include "core/worker_pool.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/common/peer_access.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/row_write.hpp"
#include "server/api/inbox/services.hpp"
#include "server/api/push/forward.hpp"
#include "server/messages/a2a_message.hpp"

namespace restante {

namespace {

// Reading this much takes as long as a small request takes in all; more is read on another thread.
constexpr std::size_t read_at_once = 256 * 1024;

// What storing it takes at most: the row, the parameter of its statement and the buffer that it is sent from.
constexpr std::uint64_t copies_while_stored = 3;

struct given_message {
    a2a_message message;
    digest32 fingerprint;
    memory_charge held;
};

awaitable<answerable<given_message>> read_message(request_context& req)
{
    auto text = co_await req.text_body();
    if (!text && text.error() == errc::request_too_large)
        co_return refuse_message_size(req.body().cap());
    if (!text)
        co_return refusal(text.error());
    auto held = req.charge(memory_use::body);
    if (!held.grow_to(2 * text->size()))  // the normalised text, and the hashes of its keys
        co_return refusal(errc::no_room);
    const message_route route{req.workspace_id(), !speaking_peer(caller_of(req), req.workspace_id())};
    digest32 fingerprint{};
    const auto read = [&] {
        fingerprint = fingerprint_of(req, *text);
        return normalise_message(*text, route);
    };
    auto message = text->size() <= read_at_once ? read() : co_await shared_workers().run(read);
    if (!message)
        co_return message.error();
    *text = {};
    req.release_text();
    if (!held.grow_to(copies_while_stored * message->body.size()))
        co_return refusal(errc::no_room);
    co_return given_message{std::move(*message), fingerprint, std::move(held)};
}

activity make_row(const request_context& req, a2a_message& message)
{
    activity row;
    row.id = make_uuid_v7();
    row.workspace_id = req.workspace_id();
    row.activity_type = "a2a_receive";
    row.source_id = speaking_peer(caller_of(req), req.workspace_id());
    row.target_id = req.workspace_id();
    row.method = message.method;
    row.summary = message.method;
    row.request_body = std::move(message.body);
    return row;
}

std::string queued_answer(std::string_view method)
{
    std::string answer = R"({"status":"queued","delivery_mode":"poll")";
    append_member(answer, R"(,"method":)", method);
    answer += '}';
    return answer;
}

}  // namespace

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
    auto& message = given->message;
    row_request made{make_row(req, message), queued_answer(message.method)};
    if (*key)
        made.keys.push_back(request_key::of_client(std::move(**key), given->fingerprint));
    if (message.message_id)
        made.keys.push_back(request_key::of_message(*message.message_id, svc.message_lifetime));
    co_return co_await store_row(req, svc, std::move(made));
}

}  // namespace restante
