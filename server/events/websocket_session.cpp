#include "server/events/websocket_session.hpp"

#include "http/message/response_writer.hpp"
#include "http/net/connection.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <array>

namespace restante {

namespace {

namespace websocket = boost::beast::websocket;
using steady = std::chrono::steady_clock;

constexpr auto between_pings = std::chrono::seconds(30);
constexpr auto longest_silence = std::chrono::seconds(65);  // two pings, and time for the second answer
constexpr auto write_limit = std::chrono::seconds(10);
constexpr auto goodbye_limit = std::chrono::seconds(2);
constexpr std::size_t longest_message = 64 * 1024;  // clients need not send any; this limits those that do

websocket::close_reason reason_for(close_cause why)
{
    switch (why) {
        case close_cause::fell_behind: return {websocket::close_code::try_again_later, "fell behind"};
        case close_cause::not_allowed: return {websocket::close_code::policy_error, "token no longer valid"};
        case close_cause::shutting_down: return {websocket::close_code::going_away, "server is stopping"};
        case close_cause::none: break;
    }
    return websocket::close_code::normal;
}

class websocket_session {
public:
    websocket_session(connection& conn, subscriber& listener, event_metrics& metrics)
        : conn_(conn), listener_(listener), metrics_(metrics), ws_(conn.stream)
    {
        // One that is not in the middle of a message gets its close code.
        listener_.on_drop([this] {
            if (sending_)
                conn_.stream.cancel();
        });
    }
    ~websocket_session() { listener_.on_drop(nullptr); }

    awaitable<bool> accept(const request_header& head, const websocket_welcome& welcome);
    awaitable<void> run();

private:
    awaitable<void> read_loop();
    awaitable<void> write_loop();
    awaitable<bool> send(const event& next);
    awaitable<bool> send_text(const std::string& message);
    awaitable<bool> ping();
    awaitable<void> send_close(close_cause why);
    awaitable<void> drain();

    connection& conn_;
    subscriber& listener_;
    event_metrics& metrics_;
    websocket::stream<net_stream&> ws_;
    std::array<char, 512> ignored_;
    steady::time_point last_heard_ = steady::now();
    bool peer_done_ = false;
    bool sending_ = false;
};

awaitable<bool> websocket_session::accept(const request_header& head, const websocket_welcome& welcome)
{
    ws_.set_option(websocket::stream_base::decorator([&](websocket::response_type& answer) {
        if (!welcome.format.empty())
            answer.set(http::field::sec_websocket_protocol, welcome.format);
        answer.set("X-Request-Id", welcome.request_id);
        answer.set("X-Content-Type-Options", "nosniff");
        answer.set(http::field::server, "restante");  // or Beast would add its own name and version
    }));
    ws_.control_callback(
        [this](websocket::frame_type, boost::beast::string_view) { last_heard_ = steady::now(); });
    ws_.read_message_max(longest_message);
    ws_.auto_fragment(false);
    ws_.text(true);

    const http::request<http::empty_body> request(head);
    conn_.limit().expires_after(write_limit);
    const auto [ec] = co_await ws_.async_accept(request, use_tuple);
    conn_.limit().clear();
    co_return !ec;
}

// Each half makes the other one end, so neither has to be cancelled in the middle of a frame.
awaitable<void> websocket_session::run()
{
    using namespace asio::experimental::awaitable_operators;
    auto reading = read_loop();
    auto writing = write_loop();
    co_await (std::move(reading) && std::move(writing));
    co_await drain();
}

awaitable<void> websocket_session::read_loop()
{
    const auto into = asio::buffer(ignored_);
    for (;;) {
        const auto [ec, bytes] = co_await ws_.async_read_some(into, use_tuple);
        if (ec)
            break;
        last_heard_ = steady::now();
    }
    peer_done_ = true;
    listener_.wake();
}

awaitable<void> websocket_session::write_loop()
{
    auto next_ping = steady::now() + between_pings;
    bool going = true;
    while (going && !peer_done_) {
        co_await listener_.wait_until(next_ping);
        if (peer_done_)
            break;
        if (const auto why = listener_.cause(); why != close_cause::none) {
            co_await send_close(why);
            break;
        }
        if (steady::now() >= next_ping) {
            next_ping += between_pings;
            going = co_await ping();
        } else if (listener_.has_events()) {
            const auto next = listener_.take();
            going = co_await send(*next);
            listener_.release();
        }
    }
    if (!peer_done_)
        conn_.stream.close();
}

awaitable<bool> websocket_session::send(const event& next)
{
    if (!next.chat.empty()) {
        const bool sent = co_await send_text(next.chat);
        if (!sent)
            co_return false;
    }
    const bool sent = co_await send_text(next.text);
    if (sent)
        metrics_.note_sent(next);
    co_return sent;
}

awaitable<bool> websocket_session::send_text(const std::string& message)
{
    conn_.limit().expires_after(write_limit);
    const auto text = asio::buffer(message);
    sending_ = true;
    const auto [ec, bytes] = co_await ws_.async_write(text, use_tuple);
    sending_ = false;
    conn_.limit().clear();
    co_return !ec;
}

awaitable<bool> websocket_session::ping()
{
    if (steady::now() - last_heard_ > longest_silence)
        co_return false;
    conn_.limit().expires_after(write_limit);
    const websocket::ping_data nothing;
    const auto [ec] = co_await ws_.async_ping(nothing, use_tuple);
    conn_.limit().clear();
    co_return !ec;
}

awaitable<void> websocket_session::send_close(close_cause why)
{
    conn_.limit().expires_after(goodbye_limit);
    const auto reason = reason_for(why);
    co_await ws_.async_close(reason, use_tuple);
    conn_.limit().clear();
}

// Closing while bytes of the client are unread makes the kernel send a reset, and that would discard our
// close frame.
awaitable<void> websocket_session::drain()
{
    conn_.limit().expires_after(goodbye_limit);
    for (;;) {
        const auto got = co_await conn_.read(asio::buffer(ignored_));
        if (!got)
            co_return;
    }
}

}  // namespace

awaitable<void> run_websocket(connection& conn, const request_header& head, websocket_welcome welcome,
                              std::shared_ptr<subscriber> listener, event_metrics& metrics,
                              task_group& requests)
{
    const counted open(metrics.websockets);
    const task_group::stop_callback stop(requests, [&] { listener->disconnect(close_cause::shutting_down); });
    // A client that sends frames before the handshake is answered (RFC 6455, 4.1) can't know that they will
    // be understood.
    if (!conn.input.empty())
        co_return;
    websocket_session session(conn, *listener, metrics);
    const bool accepted = co_await session.accept(head, welcome);
    if (accepted)
        co_await session.run();
}

}  // namespace restante
