#include "http/client/dialer.hpp"

#include "http/client/client_error.hpp"

#include <boost/system/errc.hpp>
#include <openssl/x509_vfy.h>

#include <algorithm>

namespace restante {

namespace {

using clock = std::chrono::steady_clock;
using addresses = std::vector<asio::ip::address>;

awaitable<result<addresses>> judged_addresses(const dial_options& options, const http_origin& to,
                                              clock::time_point until, std::stop_token stop)
{
    addresses all;
    if (to.address) {
        all.push_back(*to.address);
    } else {
        auto found = co_await options.names.resolve(to.host, until, stop);
        if (!found)
            co_return found.error();
        all = std::move(*found);
    }
    if (!std::all_of(all.begin(), all.end(), options.judge))
        co_return client_errc::address_refused;
    co_return all;
}

awaitable<result<tcp_socket>> connect(const asio::ip::address& address, std::uint16_t port,
                                      clock::time_point until, std::stop_token stop)
{
    const executor ex = co_await asio::this_coro::executor;
    tcp_socket socket(ex);
    const auto end_wait = [&socket] {
        error_code ignored;  // a socket that is closed already waits for nothing
        socket.cancel(ignored);
    };
    deadline limit(ex, end_wait);
    limit.expires_at(until);
    const std::stop_callback on_stop(stop, end_wait);
    const tcp::endpoint endpoint(address, port);
    const auto [ec] = co_await socket.async_connect(endpoint, use_tuple);
    if (stop.stop_requested())
        co_return client_errc::cancelled;
    if (limit.expired())
        co_return client_errc::late;
    if (ec)
        co_return client_errc::connect_failed;
    error_code ignored;  // it would only be slower
    socket.set_option(tcp::no_delay(true), ignored);
    co_return socket;
}

// Each address gets its share of the time that is left, so that a silent first one leaves some to the rest.
awaitable<result<tcp_socket>> connect_to_one_of(const addresses& all, std::uint16_t port,
                                                clock::time_point until, std::stop_token stop)
{
    error_code why = client_errc::late;
    for (std::size_t i = 0; i < all.size() && clock::now() < until; ++i) {
        if (stop.stop_requested())
            co_return client_errc::cancelled;
        const auto share = (until - clock::now()) / static_cast<int>(all.size() - i);
        auto socket = co_await connect(all[i], port, clock::now() + share, stop);
        if (socket)
            co_return socket;
        why = socket.error();
    }
    co_return why;
}

// The verdict is OpenSSL's on the peer's certificate: without a fault of it, the handshake has failed
// otherwise.
client_errc why_refused(long verdict)
{
    switch (verdict) {
        case X509_V_OK: return client_errc::tls_failed;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return client_errc::certificate_of_other_host;
        case X509_V_ERR_CERT_HAS_EXPIRED:
        case X509_V_ERR_CERT_NOT_YET_VALID: return client_errc::certificate_expired;
        default: return client_errc::certificate_untrusted;
    }
}

awaitable<error_code> shake_hands(connection& conn, clock::time_point until, std::stop_token stop)
{
    const std::stop_callback on_stop(stop, [&conn] { conn.stream.cancel(); });
    conn.limit().expires_at(until);
    const auto ec = co_await conn.stream.handshake();
    const bool late = conn.limit().expired();
    conn.limit().clear();
    if (stop.stop_requested())
        co_return client_errc::cancelled;
    if (late)
        co_return client_errc::late;
    // A peer that went away, as a server does that is being restarted, has said nothing about its TLS.
    if (ec == boost::system::errc::protocol_error)
        co_return why_refused(conn.stream.certificate_verdict());
    if (ec)
        co_return client_errc::broken;
    co_return error_code{};
}

}  // namespace

awaitable<result<std::unique_ptr<connection>>> dial(const dial_options& options, const http_origin& to,
                                                    clock::time_point until, std::stop_token stop)
{
    const auto connected_by = std::min(until, clock::now() + options.connect_limit);
    const auto all = co_await judged_addresses(options, to, connected_by, stop);
    if (!all)
        co_return all.error();
    auto socket = co_await connect_to_one_of(*all, to.port, connected_by, stop);
    if (!socket)
        co_return socket.error();
    if (!to.tls)
        co_return std::make_unique<connection>(net_stream(std::move(*socket)));

    auto conn = std::make_unique<connection>(net_stream(std::move(*socket), *options.tls, to.host));
    const auto ready_by = std::min(until, clock::now() + options.handshake_limit);
    if (const auto ec = co_await shake_hands(*conn, ready_by, stop))
        co_return ec;
    co_return conn;
}

}  // namespace restante
