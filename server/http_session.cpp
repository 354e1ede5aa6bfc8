#include "server/http_session.hpp"

#include "core/log.hpp"
#include "server/body_reader.hpp"
#include "server/connection.hpp"
#include "server/head_scanner.hpp"
#include "server/request_context.hpp"
#include "server/response_writer.hpp"

#include <boost/asio/error.hpp>

namespace restante {

namespace {

using clock = std::chrono::steady_clock;

// How long a connection that is being closed goes on swallowing what the client still sends. Closing at once
// would make the kernel send a reset, and a reset erases the answer if the client has not read it yet.
constexpr auto linger_in_all = std::chrono::seconds(30);
constexpr auto linger_silence = std::chrono::seconds(2);

void skip_empty_line(input_buffer& input)
{
    // RFC 9112, 2.2: an empty line before the request line is left over from an older client's body.
    if (input.view().starts_with("\r\n"))
        input.consume(2);
}

// The size of a complete head in conn.input. Errors: what head_scanner refuses, request_timeout; client_gone
// when nobody waits for an answer: the connection ended or stayed silent before a request began.
awaitable<result<std::size_t>> read_head(connection& conn, const settings& config)
{
    head_scanner scanner;
    bool begun = false;
    for (;;) {
        if (!begun)
            skip_empty_line(conn.input);
        if (!conn.input.empty()) {
            switch (scanner.look(conn.input.view())) {
                case head_scanner::progress::complete:
                    co_return scanner.size();
                case head_scanner::progress::refused:
                    co_return make_error_code(scanner.refusal());
                case head_scanner::progress::incomplete:
                    break;
            }
            if (!std::exchange(begun, true))
                conn.limit().expires_after(config.header_timeout);
        }
        conn.set_idle(!begun);
        const auto ec = co_await conn.fill();
        conn.set_idle(false);
        if (ec && !begun)
            co_return errc::client_gone;
        if (ec == asio::error::eof)
            co_return errc::bad_request;
        if (ec)
            co_return ec;
    }
}

gate_verdict refused(errc why)
{
    gate_verdict verdict;
    verdict.refusal = why;
    verdict.close = true;
    return verdict;
}

gate_verdict parse_head(request_parser& parser, input_buffer& input, std::size_t size)
{
    parser.body_limit(boost::none);               // the route's cap is checked by body_reader
    parser.header_limit(input_buffer::capacity);  // head_scanner has applied ours
    error_code ec;
    const auto text = input.view().substr(0, size);
    parser.put(asio::buffer(text), ec);
    if (ec || !parser.is_header_done()) {
        const auto why = parser_error_to_errc(ec);
        input.consume(size);
        return refused(why);
    }
    input.consume(size);
    return inspect_head(parser.get());
}

void add_fields(response& answer, const cors_fields& fields)
{
    for (const auto& field : fields)
        answer.head.insert(field.name, field.value);
}

}  // namespace

// One request and its answer. A friend of request_context, which it fills in step by step.
class http_exchange {
public:
    http_exchange(connection& conn, const session_environment& env, const gate_verdict& verdict,
                  request_parser& parser)
        : conn_(conn),
          env_(env),
          verdict_(verdict),
          body_(conn, parser, verdict),
          // Moved out before the body is read, so that trailers, which Beast adds to its own fields, decide
          // nothing.
          request_(conn, std::move(parser.get().base()), body_)
    {
    }

    // True when the connection can take the next request.
    awaitable<bool> run()
    {
        response answer = co_await answer_or_500();
        conn_.unwatch();
        conn_.limit().clear();
        if (auto* take = std::get_if<takeover>(&answer.body)) {
            co_await (*take)(conn_, request_.head());
            report(answer);
            co_return false;
        }
        const bool keep = !verdict_.close && body_.skip_if_received() && !conn_.stopping();
        const answer_frame frame{.request_id = request_.id(),
                                 .head_only = request_.method() == http::verb::head,
                                 .keep_alive = keep};
        const auto ec = co_await send_response(conn_, answer, frame);
        report(answer);
        if (ec)
            co_return false;
        if (!keep)
            co_await close_gently();
        co_return keep;
    }

private:
    awaitable<response> answer_or_500()
    {
        try {
            auto answer = co_await respond();
            co_return answer;
        } catch (const boost::system::system_error& e) {
            if (e.code() == asio::error::operation_aborted)
                throw;  // the session is being cancelled; nobody waits for this answer
            log_failure(e.what());
        } catch (const std::exception& e) {
            log_failure(e.what());
        }
        co_return request_.fail(errc::internal_error);
    }

    awaitable<response> respond()
    {
        auto answer = co_await route_and_handle();
        const bool preflight = request_.method() == http::verb::options;
        if (!preflight)
            add_fields(answer, env_.cors.response_fields(request_.header(http::field::origin)));
        co_return answer;
    }

    awaitable<response> route_and_handle()
    {
        if (verdict_.refusal)
            co_return request_.fail(*verdict_.refusal);
        auto target = parse_request_target(request_.head().target());
        if (!target)
            co_return request_.fail(target.error());
        request_.target_ = std::move(*target);

        request_.match_ = match_route(env_.routes, request_.head().method_string(), request_.path());
        const auto& match = request_.match_;
        if (match.refusal)
            co_return refuse_route(*match.refusal);
        if (!match.target)
            co_return answer_options();

        if (match.target->who != scope::open) {
            if (!env_.svc.access)
                co_return request_.fail(errc::internal_error);
            const auto who = co_await env_.svc.access->authorise(request_);
            if (!who)
                co_return request_.fail(who.error());
            request_.who_ = *who;
        }
        body_.set_cap(match.target->body_cap);
        if (match.target->body == body_mode::none) {
            const auto discarded = co_await body_.discard();
            if (!discarded)
                co_return request_.fail(discarded.error());
        }
        conn_.limit().clear();
        if (body_.at_end())
            conn_.input.release_if_empty();
        co_return co_await match.target->handler(request_, env_.svc);
    }

    response refuse_route(errc why)
    {
        auto answer = request_.fail(why);
        if (why == errc::method_not_allowed)
            answer.head.set(http::field::allow, request_.match_.allowed.to_string());
        return answer;
    }

    response answer_options()
    {
        response answer;
        answer.head.result(http::status::no_content);
        answer.head.set(http::field::allow, request_.match_.allowed.to_string());
        const auto origin = request_.header(http::field::origin);
        if (!origin.empty() && !request_.header(http::field::access_control_request_method).empty())
            add_fields(answer, env_.cors.preflight_fields(origin, request_.match_.allowed));
        return answer;
    }

    awaitable<void> close_gently()
    {
        conn_.stream.shutdown_send();
        if (body_.at_end() && !verdict_.refusal)
            co_return;
        const auto end = clock::now() + linger_in_all;
        for (auto now = clock::now(); now < end; now = clock::now()) {
            conn_.limit().expires_at(std::min(end, now + linger_silence));
            conn_.input.consume(conn_.input.size());
            const auto got = co_await conn_.read(conn_.input.prepare());
            if (!got)
                co_return;
        }
    }

    void report(const response& answer)
    {
        const auto took = clock::now() - begun_;
        const auto* matched = request_.match_.target;
        env_.requests.observe(matched, request_.method(), answer.head.result_int(), took);
        log_line(log_level::debug, "request")
            .field("request_id", request_.id())
            .field("remote", conn_.remote().to_string())
            .field("method", std::string_view(request_.head().method_string()))
            .field("path", matched ? matched->pattern.text() : request_.path())
            .field("status", answer.head.result_int())
            .field("duration_ms", std::chrono::duration<double, std::milli>(took).count());
    }

    void log_failure(const char* what)
    {
        log_line(log_level::error, "request_failed").field("request_id", request_.id()).field("error", what);
    }

    connection& conn_;
    const session_environment& env_;
    const gate_verdict& verdict_;
    body_reader body_;
    request_context request_;
    clock::time_point begun_ = clock::now();
};

namespace {

awaitable<bool> serve_request(connection& conn, const session_environment& env)
{
    const auto head_size = co_await read_head(conn, env.svc.config);
    if (!head_size &&
        (head_size.error() == errc::client_gone || head_size.error().category() != restante_category()))
        co_return false;

    request_parser parser;
    gate_verdict verdict;
    if (head_size)
        verdict = parse_head(parser, conn.input, *head_size);
    else
        verdict = refused(to_errc(head_size.error()));
    http_exchange exchange(conn, env, verdict, parser);
    co_return co_await exchange.run();
}

}  // namespace

awaitable<void> run_session(connection& conn, const session_environment& env)
{
    // A new connection has the time of a header to say something; between requests the client may pause
    // longer.
    conn.limit().expires_after(env.svc.config.header_timeout);
    while (co_await serve_request(conn, env)) {
        conn.input.release_if_empty();
        conn.limit().expires_after(env.svc.config.idle_timeout);
    }
}

}  // namespace restante
