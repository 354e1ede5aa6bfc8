#include "http/net/accept_loop.hpp"

#include "core/log.hpp"

#include <boost/asio/ip/tcp.hpp>

namespace restante {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto pause_when_short = std::chrono::milliseconds(100);

net_stream make_stream(tcp_socket socket, transport kind, const front_desk& desk)
{
    if (kind == transport::tls)
        return net_stream(std::move(socket), *desk.tls);
    return net_stream(std::move(socket));
}

// A place for the handshake is taken only when the client has begun to speak, so that silent connections
// can't keep the others out.
awaitable<bool> shake_hands(connection& conn, front_desk& desk, const settings& config)
{
    if (conn.stopping())
        co_return false;
    const auto end = clock::now() + config.handshake_timeout;
    conn.limit().expires_at(end);
    const auto [silent] = co_await conn.stream.wait(tcp_socket::wait_read);
    if (silent)
        co_return false;
    const auto place = co_await desk.handshake_places.enter_until(end);
    if (!place)
        co_return false;
    const auto ec = co_await conn.stream.handshake();
    if (ec)
        log_line(log_level::debug, "handshake_failed").field("remote", conn.remote_text()).failure(ec);
    co_return !ec;
}

awaitable<void> serve_connection(tcp_socket socket, admission::ticket, transport kind, front_desk& desk,
                                 const session_environment& env)
{
    error_code ec;  // a connection that has ended already shows it at the first read
    socket.set_option(tcp::no_delay(true), ec);
    connection conn(make_stream(std::move(socket), kind, desk));
    desk.connections.push_back(conn);
    if (desk.requests.stop_requested())
        conn.stop();
    if (kind == transport::tls) {
        conn.set_idle(true);
        const bool ready = co_await shake_hands(conn, desk, env.svc.config);
        conn.set_idle(false);
        if (!ready)
            co_return;
    }
    co_await run_session(conn, env);
}

bool is_closed(const error_code& ec)
{
    return ec == asio::error::operation_aborted || ec == asio::error::bad_descriptor;
}

}  // namespace

front_door::front_door(tcp_acceptor acceptor, transport kind, front_desk& desk,
                       const session_environment& env)
    : acceptor_(std::move(acceptor)), kind_(kind), desk_(desk), env_(env)
{
}

void front_door::receive(tcp_socket socket, admission::ticket place)
{
    desk_.requests.spawn("session",
                         serve_connection(std::move(socket), std::move(place), kind_, desk_, env_));
}

awaitable<void> front_door::run()
{
    bool short_of_something = false;
    while (acceptor_.is_open()) {
        auto place = co_await desk_.connection_places.enter_until(clock::time_point::max());
        auto [ec, socket] = co_await acceptor_.async_accept(use_tuple);
        if (is_closed(ec))
            co_return;
        if (!ec) {
            short_of_something = false;
            receive(std::move(socket), std::move(*place));
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

void front_door::stop()
{
    error_code ec;
    acceptor_.non_blocking(true, ec);
    for (auto place = desk_.connection_places.try_enter(); place && !ec;
         place = desk_.connection_places.try_enter()) {
        tcp_socket socket(acceptor_.get_executor());
        acceptor_.accept(socket, ec);
        if (!ec)
            receive(std::move(socket), std::move(*place));
    }
    acceptor_.close(ec);
}

}  // namespace restante
