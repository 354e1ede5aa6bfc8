#include "http/net/accept_loop.hpp"

#include "core/log.hpp"

#include <boost/asio/ip/tcp.hpp>

namespace restante {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto pause_when_short = std::chrono::milliseconds(100);

net_stream make_stream(tcp_socket socket, transport kind, const accept_context& shared)
{
    if (kind == transport::tls)
        return net_stream(std::move(socket), *shared.tls);
    return net_stream(std::move(socket));
}

// A handshake slot is taken only once the client has sent something, so that silent connections can't block
// the others.
awaitable<bool> shake_hands(connection& conn, accept_context& shared)
{
    if (conn.stopping())
        co_return false;
    const auto end = clock::now() + shared.handshake_timeout;
    conn.limit().expires_at(end);
    const auto [silent] = co_await conn.stream.wait(tcp_socket::wait_read);
    if (silent)
        co_return false;
    const auto place = co_await shared.handshake_places.enter_until(end);
    if (!place)
        co_return false;
    const auto ec = co_await conn.stream.handshake();
    if (ec)
        log_line(log_level::debug, "handshake_failed").field("remote", conn.remote_text()).failure(ec);
    co_return !ec;
}

awaitable<void> serve_connection(tcp_socket socket, admission::ticket, transport kind, accept_context& shared,
                                 const accept_loop::session& serve)
{
    error_code ec;  // a connection that has ended already fails at its first read
    socket.set_option(tcp::no_delay(true), ec);
    connection conn(make_stream(std::move(socket), kind, shared));
    if (!conn.join(shared.strangers))
        co_return;
    shared.connections.push_back(conn);
    if (shared.requests.stop_requested())
        conn.stop();
    if (kind == transport::tls) {
        conn.set_idle(true);
        const bool ready = co_await shake_hands(conn, shared);
        conn.set_idle(false);
        if (!ready)
            co_return;
    }
    co_await serve(conn);
}

bool is_closed(const error_code& ec)
{
    return ec == asio::error::operation_aborted || ec == asio::error::bad_descriptor;
}

}  // namespace

accept_loop::accept_loop(tcp_acceptor acceptor, transport kind, accept_context& shared, session serve)
    : acceptor_(std::move(acceptor)), kind_(kind), shared_(shared), serve_(std::move(serve))
{
}

void accept_loop::start_session(tcp_socket socket, admission::ticket place)
{
    shared_.requests.spawn("session",
                           serve_connection(std::move(socket), std::move(place), kind_, shared_, serve_));
}

// Nothing when the listener was closed meanwhile.
awaitable<std::optional<admission::ticket>> accept_loop::place_for_next()
{
    auto place = shared_.connection_places.try_enter();
    if (place)
        co_return place;
    const auto [closed] = co_await acceptor_.async_wait(tcp_acceptor::wait_read, use_tuple);
    if (closed)
        co_return std::nullopt;
    while (!place && acceptor_.is_open()) {
        shared_.strangers.make_room();
        place = co_await shared_.connection_places.enter_until(clock::now() + pause_when_short);
    }
    co_return place;
}

awaitable<void> accept_loop::run()
{
    bool short_of_something = false;
    while (acceptor_.is_open()) {
        auto place = co_await place_for_next();
        if (!place)
            co_return;
        auto [ec, socket] = co_await acceptor_.async_accept(use_tuple);
        if (is_closed(ec))
            co_return;
        if (!ec) {
            short_of_something = false;
            start_session(std::move(socket), std::move(*place));
            continue;
        }
        if (ec == asio::error::connection_aborted)
            continue;
        if (!std::exchange(short_of_something, true))
            log_line(log_level::warn, "accept_paused").failure(ec);
        steady_timer pause(acceptor_.get_executor(), pause_when_short);
        const auto [woken] = co_await pause.async_wait(use_tuple);
        if (woken)
            co_return;
    }
}

void accept_loop::stop()
{
    error_code ec;
    acceptor_.non_blocking(true, ec);
    for (auto place = shared_.connection_places.try_enter(); place && !ec;
         place = shared_.connection_places.try_enter()) {
        tcp_socket socket(acceptor_.get_executor());
        acceptor_.accept(socket, ec);
        if (!ec)
            start_session(std::move(socket), std::move(*place));
    }
    acceptor_.close(ec);
}

}  // namespace restante
