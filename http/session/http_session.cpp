#include "http/session/http_session.hpp"

#include "http/message/head_scanner.hpp"
#include "http/net/connection.hpp"
#include "http/session/http_exchange.hpp"

#include <boost/asio/error.hpp>

namespace restante {

namespace {

// RFC 9112, 2.2: an empty line before the request line is left over from an older client's body.
void skip_empty_line(input_buffer& input)
{
    if (input.view().starts_with("\r\n"))
        input.consume(2);
}

// The size of a complete head in conn.input. Errors: what head_scanner refuses, request_timeout,
// shutting_down, and bad_request when the client closed in the middle; client_gone when nobody waits for an
// answer, because the connection ended or stayed silent before a request began. System errors are passed on.
awaitable<result<std::size_t>> read_head(connection& conn, std::chrono::milliseconds time_for_head)
{
    head_scanner scanner;
    bool begun = false;
    for (;;) {
        if (!begun)
            skip_empty_line(conn.input);
        if (!conn.input.empty()) {
            switch (scanner.look(conn.input.view())) {
                case head_scanner::progress::complete: co_return scanner.size();
                case head_scanner::progress::refused: co_return make_error_code(scanner.refusal());
                case head_scanner::progress::incomplete: break;
            }
            if (!std::exchange(begun, true))
                conn.limit().expires_after(time_for_head);
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
    parser.put(asio::buffer(input.view().substr(0, size)), ec);
    input.consume(size);
    if (ec)
        return refused(parser_error_to_errc(ec));
    return inspect_head(parser.get());
}

bool nobody_listens(const error_code& ec)
{
    return ec == errc::client_gone || ec.category() != restante_category();
}

awaitable<bool> serve_request(connection& conn, const session_environment& env)
{
    const auto head_size = co_await read_head(conn, env.timeouts.header);
    if (!head_size && nobody_listens(head_size.error()))
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
    // A new connection gets the header timeout for its first bytes; between requests the client may pause
    // longer.
    conn.limit().expires_after(env.timeouts.header);
    while (co_await serve_request(conn, env)) {
        conn.input.release_if_empty();
        conn.limit().expires_after(env.timeouts.idle);
    }
    conn.stream.shutdown_send();
}

}  // namespace restante
