#include "http/session/http_exchange.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"
#include "http/message/response_writer.hpp"
#include "http/net/connection.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

// How long a connection that is being closed keeps discarding what the client still sends. Closing at once
// would make the kernel send a reset, and a reset erases the answer if the client has not read it yet.
constexpr auto linger_in_all = std::chrono::seconds(30);
constexpr auto linger_silence = std::chrono::seconds(2);

void add_fields(response& answer, const cors_fields& fields)
{
    for (const auto& field : fields)
        answer.head.insert(field.name, field.value);
}

}  // namespace

http_exchange::http_exchange(connection& conn, const session_environment& env, const gate_verdict& verdict,
                             request_parser& parser)
    : conn_(conn),
      env_(env),
      verdict_(verdict),
      body_(conn, parser, verdict),
      request_(conn, std::move(parser.get().base()), body_, env.memory)
{
}

awaitable<bool> http_exchange::run()
{
    auto answered = co_await answer();
    conn_.unwatch();
    if (auto* take = std::get_if<takeover>(&answered.body)) {
        report(answered);  // now: how long it lasts says nothing about how quickly it was answered
        co_await (*take)(conn_, request_.head());
        co_return false;
    }
    if (auto* stream = std::get_if<stream_body>(&answered.body)) {
        report(answered);
        const auto ec = co_await send_stream_head(conn_, answered, request_.id());
        if (!ec)
            co_await (*stream)(conn_);
        co_return false;
    }
    const bool chunks = request_.head().version() >= 11;
    const bool framed = chunks || has_known_length(answered);
    const bool keep = !verdict_.close && framed && body_.skip_if_received() && !conn_.stopping();
    const answer_frame frame{.request_id = request_.id(),
                             .head_only = request_.method() == http::verb::head,
                             .keep_alive = keep,
                             .chunks = chunks};
    fault_point("before_answer");
    const auto ec = co_await send_response(conn_, answered, frame);
    report(answered);
    if (ec) {
        conn_.stream.close();  // abruptly: an incomplete answer must not look complete
        co_return false;
    }
    if (!keep)
        co_await close_gently();
    co_return keep;
}

awaitable<response> http_exchange::answer()
{
    response made;
    try {
        made = co_await route_and_handle();
    } catch (const boost::system::system_error& e) {
        if (e.code() == asio::error::operation_aborted)
            throw;  // the session is being cancelled; nobody waits for this answer
        log_failure(e.what());
        made = request_.fail(errc::internal_error);
    } catch (const std::exception& e) {
        log_failure(e.what());
        made = request_.fail(errc::internal_error);
    }
    if (request_.method() != http::verb::options)
        add_fields(made, env_.cors.response_fields(request_.header(http::field::origin)));
    co_return made;
}

awaitable<response> http_exchange::route_and_handle()
{
    if (verdict_.refusal)
        co_return request_.fail(*verdict_.refusal);
    if (env_.hosts && !env_.hosts->admits(request_.head(), real_clock().now()))
        co_return request_.fail(errc::host_not_allowed);
    auto target = parse_request_target(request_.head().target());
    if (!target)
        co_return request_.fail(target.error());
    request_.target_ = std::move(*target);

    const auto& match = request_.match_ =
        match_route(env_.routes, request_.head().method_string(), request_.path());
    if (match.refusal) {
        // A browser would show its page a refused preflight as a broken network. Allowed, the request that
        // follows gets the refusal, and the page may read it.
        if (is_preflight())
            co_return answer_options(match_route(env_.routes, "OPTIONS", "*").allowed);
        co_return refuse_route(*match.refusal);
    }
    if (!match.target)
        co_return answer_options(match.allowed);
    const route& found = *match.target;

    if (found.who != scope::open) {
        if (!env_.access)
            co_return request_.fail(errc::internal_error);
        auto caller = co_await env_.access->authorise(request_);
        if (!caller)
            co_return request_.fail(caller.error());
        request_.caller_ = std::move(*caller);
        if (request_.caller_.proven())
            conn_.become_known();
        body_.confirm_end(begun_ + env_.timeouts.caller, [this] { return confirm_caller(); });
    }

    body_.set_cap(found.body_cap);
    body_.charge_to(request_.charge(request_.body_use()));
    if (found.body == body_mode::none) {
        const auto discarded = co_await body_.discard();
        if (!discarded)
            co_return request_.fail(discarded.error());
    }
    // From here the handler decides how long it takes; the client's limits apply again when it is read or
    // written to.
    conn_.limit().clear();
    if (body_.at_end())
        conn_.input.release_if_empty();
    co_return co_await found.handler(request_);
}

// The caller stays the one that was found at first; handlers may already refer to it.
awaitable<result<void>> http_exchange::confirm_caller()
{
    const auto now = co_await env_.access->authorise(request_);
    // A body that is stored or sent on as it comes does not fail with a database that cannot say anything
    // about its caller: the transaction that stores it asks for itself.
    const bool streamed = request_.match_.target->body == body_mode::streamed;
    if (!now && streamed && public_error_of(now.error().code).status == 503)
        co_return result<void>();
    if (!now)
        co_return RESTANTE_ERROR(now.error().code);
    // Some routes are open to strangers too, but this one has been taken for more.
    if (request_.caller_.proven() && !now->proven())
        co_return RESTANTE_ERROR(errc::invalid_token);
    co_return result<void>();
}

response http_exchange::refuse_route(errc why) const
{
    auto refused = request_.fail(why);
    if (why == errc::method_not_allowed)
        refused.head.set(http::field::allow, request_.match_.allowed.to_string());
    return refused;
}

bool http_exchange::is_preflight() const
{
    return request_.method() == http::verb::options && !request_.header(http::field::origin).empty() &&
           !request_.header(http::field::access_control_request_method).empty();
}

response http_exchange::answer_options(const method_set& allowed) const
{
    response options;
    options.head.result(http::status::no_content);
    options.head.set(http::field::allow, allowed.to_string());
    if (is_preflight())
        add_fields(options, env_.cors.preflight_fields(request_.header(http::field::origin), allowed));
    return options;
}

awaitable<void> http_exchange::close_gently()
{
    conn_.stream.shutdown_send();
    if (body_.at_end() && !verdict_.refusal)
        co_return;
    const auto end = steady::now() + linger_in_all;
    for (auto now = steady::now(); now < end; now = steady::now()) {
        conn_.limit().expires_at(std::min(end, now + linger_silence));
        conn_.input.consume(conn_.input.size());
        const auto got = co_await conn_.read(conn_.input.prepare());
        if (!got)
            co_return;
    }
}

void http_exchange::report(const response& answered)
{
    const auto took = steady::now() - begun_;
    const auto* matched = request_.match_.target;
    env_.metrics.observe(matched, request_.method(), answered.head.result_int(), took);
    // From closed sets, like metric labels: a path that matches no route may contain anything, even a token.
    log_line span(log_level::debug, "request");
    span.from(request_.origin())
        .field("remote", conn_.remote_text())
        .field("method", std::string_view(http::to_string(request_.method())))
        .field("path", matched ? matched->pattern.text() : "unmatched")
        .field("status", answered.head.result_int())
        .field("duration_ms", std::chrono::duration<double, std::milli>(took).count())
        .field("span_id", request_.trace().span());
    if (const auto parent = request_.trace().parent(); !parent.empty())
        span.field("parent_span_id", parent);
}

void http_exchange::log_failure(const char* what) const
{
    log_line(log_level::error, "request_failed").from(request_.origin()).field("error", what);
}

}  // namespace restante
