#include "server/api/inbox/row_write.hpp"

#include "auth/authenticator.hpp"
#include "core/text.hpp"
#include "http/message/json_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/common/peer_access.hpp"
#include "server/api/inbox/services.hpp"

#include <algorithm>

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

struct given_row {
    activity row;
    digest32 fingerprint;
};

// The parsed body ends with this: it may take many times the memory of its text, and must not be held while
// the database is asked.
awaitable<answerable<given_row>> read_row(request_context& req, const row_route& how)
{
    const auto text = co_await req.text_body();
    if (!text)
        co_return refusal(text.error());
    const auto body = parse_json(*text);
    if (!body && !how.not_json.empty())
        co_return refusal(errc::malformed_json, std::string(how.not_json));
    if (!body)
        co_return refusal(body.error());
    auto row = how.read(req.workspace_id(), *text, *body);
    if (!row)
        co_return row.error();
    co_return given_row{std::move(*row), fingerprint_of(req, *text)};
}

}  // namespace

namespace {

// Another request with the same message may be at work, or undone just now. Who sends a message twice is owed
// the first answer, whichever of the two came first; who chose a key of its own can try again by itself.
constexpr int tries_for_message = 3;
constexpr auto between_tries = std::chrono::milliseconds(200);
// A try may take 8 s, and a client is owed an answer within 10.
constexpr auto time_to_try_again = std::chrono::seconds(2);

awaitable<result<staged>> stage_row(staging& stage, upload made)
{
    const bool only_by_message = made.keys.size() == 1 && !made.keys.front().fingerprint;
    const auto until = std::chrono::steady_clock::now() + time_to_try_again;
    for (int left = only_by_message ? tries_for_message - 1 : 0; left > 0; --left) {
        auto copy = made;
        auto stored = co_await stage.stage(std::move(copy));
        const bool is_running = !stored && stored.error() == errc::idempotency_key_running;
        if (!is_running || std::chrono::steady_clock::now() > until)
            co_return stored;
        steady_timer pause(co_await asio::this_coro::executor, between_tries);
        co_await pause.async_wait(use_await);
    }
    co_return co_await stage.stage(std::move(made));
}

}  // namespace

digest32 fingerprint_of(const request_context& req, std::string_view body)
{
    sha256 hash;
    // The id in it may be in upper or lower case; the rest of the path is always in lower case.
    std::string path(req.path());
    std::transform(path.begin(), path.end(), path.begin(), ascii_lower);
    hash.update(path);
    if (const auto peer = speaking_peer(caller_of(req), req.workspace_id()))
        hash.update(to_string(*peer));
    hash.update("\n");
    hash.update(body);
    return hash.finish();
}

awaitable<response> store_row(const request_context& req, inbox_services& svc, row_request what)
{
    upload made{.workspace = req.workspace_id(), .token = token_of(caller_of(req))};
    auto entry = std::make_shared<feed_entry>();
    entry->what = std::move(what.row);
    made.activities.push_back(std::move(entry));
    const auto answer = std::make_shared<const std::string>(std::move(what.answer));
    made.answer = answer;
    made.keys = std::move(what.keys);

    auto stored = co_await stage_row(svc.stage, std::move(made));
    if (!stored)
        co_return req.fail(refusal_of(stored.error()));
    if (!stored->earlier_answer)
        co_return req.json(http::status::ok, *answer);
    auto again = req.json(http::status::ok, std::move(*stored->earlier_answer));
    mark_as_replay(again);
    co_return again;
}

awaitable<response> handle_row(request_context& req, inbox_services& svc, const row_route& how)
{
    auto key = read_idempotency_key(req);
    if (!key)
        co_return req.fail(key.error());
    auto given = co_await read_row(req, how);
    if (!given)
        co_return req.fail(given.error());
    const auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    row_request made{std::move(given->row), std::string(how.answer)};
    if (*key)
        made.keys.push_back(request_key::of_client(std::move(**key), given->fingerprint));
    co_return co_await store_row(req, svc, std::move(made));
}

}  // namespace restante
