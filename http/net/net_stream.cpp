#include "http/net/net_stream.hpp"

#include <boost/system/errc.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <new>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

namespace restante {

namespace {

constexpr std::size_t record_size = 16 * 1024;

error_code last_system_error()
{
    return {errno, boost::system::system_category()};
}

// A name is announced (SNI) and looked for in the certificate; an address is only looked for, because RFC
// 6066 allows no addresses in SNI.
bool expect_host(SSL* ssl, const std::string& host)
{
    error_code ec;
    asio::ip::make_address(host, ec);
    if (!ec)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 && SSL_set1_host(ssl, host.c_str()) == 1;
}

}  // namespace

void net_stream::ssl_deleter::operator()(SSL* ssl) const
{
    SSL_free(ssl);
}

net_stream::net_stream(tcp_socket socket) : socket_(std::move(socket))
{
    error_code ec;
    socket_.non_blocking(true, ec);
}

net_stream::net_stream(tcp_socket socket, SSL_CTX& context) : net_stream(std::move(socket))
{
    begin_tls(context);
    SSL_set_accept_state(ssl_.get());
}

net_stream::net_stream(tcp_socket socket, SSL_CTX& context, const std::string& host)
    : net_stream(std::move(socket))
{
    begin_tls(context);
    SSL_set_connect_state(ssl_.get());
    if (!expect_host(ssl_.get(), host))
        throw std::bad_alloc();
}

void net_stream::begin_tls(SSL_CTX& context)
{
    ERR_clear_error();
    ssl_.reset(SSL_new(&context));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket_.native_handle()) != 1)
        throw std::bad_alloc();
}

// OpenSSL keeps its errors in a queue per thread, shared by every connection of the shard. It is cleared
// before each call, so that what is found there afterwards belongs to this one.
net_stream::attempt net_stream::read_now(asio::mutable_buffer into)
{
    attempt outcome;
    if (!ssl_) {
        outcome.bytes = socket_.read_some(into, outcome.ec);
        return outcome;
    }
    ERR_clear_error();
    std::size_t bytes = 0;
    const int returned = SSL_read_ex(ssl_.get(), into.data(), into.size(), &bytes);
    return tls_outcome(returned, bytes);
}

net_stream::attempt net_stream::write_now(std::span<const asio::const_buffer> from, bool more)
{
    if (!ssl_) {
        attempt outcome;
        outcome.wait_for = tcp_socket::wait_write;
        outcome.bytes = socket_.send(from, more ? MSG_MORE : 0, outcome.ec);
        return outcome;
    }
    if (from.empty())
        return {};

    std::array<char, record_size> record;
    asio::const_buffer next = from.front();
    if (next.size() < record_size && from.size() > 1) {
        next = asio::buffer(record.data(), asio::buffer_copy(asio::buffer(record), from));
    }
    ERR_clear_error();
    std::size_t bytes = 0;
    const int returned = SSL_write_ex(ssl_.get(), next.data(), next.size(), &bytes);
    return tls_outcome(returned, bytes);
}

net_stream::attempt net_stream::send_file_now(int file, std::uint64_t first, std::size_t length)
{
    attempt outcome;
    outcome.wait_for = tcp_socket::wait_write;
    auto at = static_cast<off_t>(first);
    const auto sent = ::sendfile(socket_.native_handle(), file, &at, length);
    if (sent < 0)
        outcome.ec = last_system_error();
    else
        outcome.bytes = static_cast<std::size_t>(sent);
    return outcome;
}

net_stream::attempt net_stream::tls_outcome(int returned, std::size_t bytes)
{
    if (returned == 1)
        return {bytes, {}};
    const int saved_errno = errno;
    switch (SSL_get_error(ssl_.get(), returned)) {
        case SSL_ERROR_WANT_READ: return {0, asio::error::would_block, tcp_socket::wait_read};
        case SSL_ERROR_WANT_WRITE: return {0, asio::error::would_block, tcp_socket::wait_write};
        case SSL_ERROR_ZERO_RETURN: return {0, asio::error::eof};
        case SSL_ERROR_SYSCALL: {
            tls_broken_ = true;
            if (saved_errno == 0)
                return {0, errc::client_gone};
            return {0, error_code(saved_errno, boost::system::system_category())};
        }
        default: {
            tls_broken_ = true;
            if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
                return {0, errc::client_gone};
            return {0, make_error_code(boost::system::errc::protocol_error)};
        }
    }
}

bool net_stream::has_buffered_bytes() const
{
    return ssl_ && SSL_has_pending(ssl_.get()) == 1;
}

error_code net_stream::peek_end()
{
    char byte = 0;
    if (ssl_) {
        ERR_clear_error();
        std::size_t bytes = 0;
        const int returned = SSL_peek_ex(ssl_.get(), &byte, 1, &bytes);
        const auto outcome = tls_outcome(returned, bytes);
        return outcome.must_wait() ? error_code{} : outcome.ec;
    }
    const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return {};
    if (got == 0)
        return asio::error::eof;
    return last_system_error();
}

bool net_stream::peer_has_left()
{
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state != TCP_ESTABLISHED;
}

awaitable<error_code> net_stream::handshake()
{
    if (!ssl_)
        co_return error_code{};
    for (;;) {
        ERR_clear_error();
        const int returned = SSL_do_handshake(ssl_.get());
        const auto outcome = tls_outcome(returned, 0);
        if (!outcome.must_wait())
            co_return outcome.ec;
        const auto [ec] = co_await wait(outcome.wait_for);
        if (ec)
            co_return ec;
    }
}

long net_stream::certificate_verdict() const
{
    return ssl_ ? SSL_get_verify_result(ssl_.get()) : X509_V_OK;
}

void net_stream::shutdown_send()
{
    if (ssl_ && !tls_broken_ && SSL_is_init_finished(ssl_.get()) &&
        (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) == 0) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
    }
    error_code ec;  // fails when the peer has disconnected, and then nothing is left to send
    socket_.shutdown(tcp_socket::shutdown_send, ec);
}

std::size_t net_stream::unacknowledged()
{
    int bytes = 0;
    if (::ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) != 0)
        return 0;
    return static_cast<std::size_t>(bytes);
}

void net_stream::cancel()
{
    error_code ec;  // fails only on a closed socket, and then there is nothing to cancel
    socket_.cancel(ec);
}

void net_stream::close()
{
    ssl_.reset();  // it refers to the descriptor by number, which another connection may soon reuse
    error_code ec;
    socket_.close(ec);
}

}  // namespace restante
