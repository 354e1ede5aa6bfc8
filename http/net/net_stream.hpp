#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <boost/asio/compose.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/role.hpp>
#include <openssl/types.h>

#include <memory>
#include <span>
#include <string>

namespace restante {

// One connection, plain or TLS. The session and everything above it see no difference.
//
// TLS runs OpenSSL on the socket itself instead of through asio::ssl::stream, whose four buffers of 17 KB
// would stay with every parked connection; here OpenSSL's own buffers are released whenever nothing is in
// flight.
//
// It models Beast's AsyncStream, so http::async_* and websocket::stream work on it. Our own code uses the
// attempts below instead: try first, wait only after would_block.
//
// Errors: asio::error::eof is a clean end (FIN, or close_notify under TLS); errc::client_gone is a TLS
// connection that was cut without close_notify; EPROTO is a peer that broke TLS; the rest comes from the
// system.
class net_stream {
public:
    using executor_type = executor;
    using wait_type = tcp_socket::wait_type;

    // The outcome of one try. With ec == would_block nothing moved, and wait_for says what to wait for before
    // the next one; under TLS a read may have to wait for room to write.
    struct attempt {
        std::size_t bytes = 0;
        error_code ec;
        wait_type wait_for = tcp_socket::wait_read;

        bool must_wait() const { return ec == asio::error::would_block; }
    };

    explicit net_stream(tcp_socket socket);
    // The side that was connected to.
    net_stream(tcp_socket socket, SSL_CTX& context);
    // The side that connects. The other one must show a certificate for `host`: a DNS name, or an address in
    // text form.
    net_stream(tcp_socket socket, SSL_CTX& context, const std::string& host);

    executor_type get_executor() { return socket_.get_executor(); }
    tcp_socket& socket() { return socket_; }
    bool encrypted() const { return ssl_ != nullptr; }
    // Of OpenSSL (X509_V_…) on the certificate that the peer has shown, after a handshake that failed.
    long certificate_verdict() const;

    // Neither ever blocks. A TLS write gathers small buffers into one record; after would_block it must be
    // repeated with buffers that begin with the same bytes.
    attempt read_now(asio::mutable_buffer into);
    attempt write_now(std::span<const asio::const_buffer> from, bool more = false);

    // A part of a file, without copying it; only for plain connections. Blocks while the disk is read, not
    // for the peer. No bytes and no error: the file is shorter than it was.
    attempt send_file_now(int file, std::uint64_t first, std::size_t length);

    auto wait(wait_type what) { return socket_.async_wait(what, use_tuple); }

    // True when a read would return bytes that have left the socket already: waiting on the socket would be
    // wrong.
    bool has_buffered_bytes() const;

    // Looks for the end of the stream without consuming anything: eof, another error, or none (bytes or
    // silence).
    error_code peek_end();

    // Whether the peer has ended or broken the connection, even behind bytes that nobody has read yet.
    bool peer_has_left();

    // Runs until the handshake is done or failed; the caller's deadline ends it with cancel().
    awaitable<error_code> handshake();

    // Sends close_notify and FIN as far as possible without waiting; reading goes on. Once is enough.
    void shutdown_send();

    // Bytes the kernel has accepted but the peer has not acknowledged. They distinguish a slow reader from
    // one that stopped.
    std::size_t unacknowledged();

    void cancel();
    void close();

    template <class MutableBuffers, class Token>
    auto async_read_some(const MutableBuffers& buffers, Token&& token);
    template <class ConstBuffers, class Token>
    auto async_write_some(const ConstBuffers& buffers, Token&& token);

private:
    struct ssl_deleter {
        void operator()(SSL* ssl) const;
    };
    template <class Try>
    struct retry_op;

    void begin_tls(SSL_CTX& context);
    attempt tls_outcome(int returned, std::size_t bytes);

    tcp_socket socket_;
    std::unique_ptr<SSL, ssl_deleter> ssl_;
    bool tls_broken_ = false;  // after a fatal error OpenSSL must not send close_notify
};

// Repeats the attempt until it has a result, waiting in between. A result of the first attempt is posted,
// because a handler must never run inside the call that started its operation.
template <class Try>
struct net_stream::retry_op {
    net_stream* stream;
    Try try_once;
    attempt last{};
    bool started = false;
    bool finished = false;

    template <class Self>
    void operator()(Self& self, error_code ec = {})
    {
        if (finished)
            return self.complete(last.ec, last.bytes);
        if (ec)
            return self.complete(ec, 0);
        last = try_once(*stream);
        if (last.must_wait()) {
            started = true;
            auto& socket = stream->socket_;
            const auto wait_for = last.wait_for;
            return socket.async_wait(wait_for, std::move(self));
        }
        if (started)
            return self.complete(last.ec, last.bytes);
        finished = true;
        asio::post(std::move(self));
    }
};

template <class MutableBuffers, class Token>
auto net_stream::async_read_some(const MutableBuffers& buffers, Token&& token)
{
    auto read = [into = buffers](net_stream& stream) {
        for (auto at = asio::buffer_sequence_begin(into); at != asio::buffer_sequence_end(into); ++at)
            if (asio::mutable_buffer(*at).size() > 0)
                return stream.read_now(*at);
        return attempt{};
    };
    return asio::async_compose<Token, void(error_code, std::size_t)>(
        retry_op<decltype(read)>{this, std::move(read)}, token, socket_);
}

template <class ConstBuffers, class Token>
auto net_stream::async_write_some(const ConstBuffers& buffers, Token&& token)
{
    auto write = [from = buffers](net_stream& stream) {
        std::array<asio::const_buffer, 16> gathered;
        std::size_t count = 0;
        auto at = asio::buffer_sequence_begin(from);
        for (; at != asio::buffer_sequence_end(from) && count < gathered.size(); ++at)
            if (asio::const_buffer(*at).size() > 0)
                gathered[count++] = *at;
        return stream.write_now({gathered.data(), count});
    };
    return asio::async_compose<Token, void(error_code, std::size_t)>(
        retry_op<decltype(write)>{this, std::move(write)}, token, socket_);
}

// What Beast's websocket::stream asks of the stream below it, found by argument-dependent lookup.
inline void beast_close_socket(net_stream& stream)
{
    stream.close();
}

inline void teardown(boost::beast::role_type, net_stream& stream, error_code& ec)
{
    stream.shutdown_send();
    ec = {};
}

template <class Handler>
void async_teardown(boost::beast::role_type, net_stream& stream, Handler&& handler)
{
    stream.shutdown_send();
    asio::post(stream.get_executor(),
               [done = std::forward<Handler>(handler)]() mutable { std::move(done)(error_code{}); });
}

}  // namespace restante
