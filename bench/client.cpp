#include "bench/client.hpp"

#include "cli/config_values.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace restante::bench {

namespace {

// One for all connections, to save memory when there are 10,000 of them.
asio::ssl::context& unverified_tls_context()
{
    static asio::ssl::context context = [] {
        asio::ssl::context made(asio::ssl::context::tls_client);
        made.set_verify_mode(asio::ssl::verify_none);
        SSL_CTX_set_mode(made.native_handle(), SSL_MODE_RELEASE_BUFFERS);
        return made;
    }();
    return context;
}

}  // namespace

std::string target::text() const
{
    return format_host_port({endpoint.address().to_string(), endpoint.port()});
}

target parse_target(const std::string& url)
{
    target parsed;
    std::string_view rest = url;
    if (rest.starts_with("https://")) {
        parsed.tls = true;
        rest.remove_prefix(8);
    } else if (rest.starts_with("http://")) {
        rest.remove_prefix(7);
    }
    while (rest.ends_with('/'))
        rest.remove_suffix(1);
    const auto place = parse_host_port(rest);
    error_code ec;
    if (place)
        parsed.endpoint = {asio::ip::make_address(place->host, ec), place->port};
    if (!place || ec)
        throw failure("--server must look like http://127.0.0.1:8080, and " + in_quotes(url) + " does not");
    return parsed;
}

client::client(executor ex, const target& server, std::size_t buffer_bytes)
    : server_(server), socket_(ex), buffer_(buffer_bytes), limit_(ex, [this] { close(); })
{
}

// The deadline ends a wait by closing the socket. The socket's own error is then meaningless.
error_code client::outcome(error_code ec) const
{
    return ec && limit_.expired() ? error_code(asio::error::timed_out) : ec;
}

void client::close()
{
    error_code ignored;
    socket_.close(ignored);
}

awaitable<error_code> client::open(const asio::ip::address& from)
{
    close();
    tls_.reset();
    error_code ec;
    socket_.open(server_.endpoint.protocol(), ec);
    if (!ec && !from.is_unspecified())
        socket_.bind({from, 0}, ec);
    if (ec)
        co_return ec;
    socket_.set_option(tcp::no_delay(true), ec);
    limit_.expires_after(server_.timeout);
    const auto [connected] = co_await socket_.async_connect(server_.endpoint, use_tuple);
    if (connected)
        co_return outcome(connected);
    if (server_.tls) {
        tls_ = std::make_unique<asio::ssl::stream<tcp_socket&>>(socket_, unverified_tls_context());
        const auto [shaken] = co_await tls_->async_handshake(asio::ssl::stream_base::client, use_tuple);
        if (shaken)
            co_return outcome(shaken);
    }
    limit_.clear();
    co_return error_code{};
}

awaitable<error_code> client::send(std::string_view request)
{
    limit_.expires_after(server_.timeout);
    const auto bytes = asio::buffer(request);
    error_code ec;
    if (tls_) {
        const auto [failed, n] = co_await asio::async_write(*tls_, bytes, use_tuple);
        ec = failed;
    } else {
        const auto [failed, n] = co_await asio::async_write(socket_, bytes, use_tuple);
        ec = failed;
    }
    co_return outcome(ec);
}

awaitable<result<std::size_t>> client::read_some(std::size_t room_from)
{
    const auto into = asio::buffer(buffer_) + room_from;
    error_code ec;
    std::size_t got = 0;
    if (tls_) {
        const auto [failed, n] = co_await tls_->async_read_some(into, use_tuple);
        ec = failed;
        got = n;
    } else {
        const auto [failed, n] = co_await socket_.async_read_some(into, use_tuple);
        ec = failed;
        got = n;
    }
    if (ec)
        co_return outcome(ec);
    co_return got;
}

awaitable<result<answer>> client::receive()
{
    limit_.expires_after(server_.timeout);
    std::size_t filled = 0;
    answer_head head;
    while (head.size == 0) {
        if (filled == buffer_.size())
            co_return error_code(asio::error::message_size);
        const auto got = co_await read_some(filled);
        if (!got)
            co_return got.error();
        filled += *got;
        head = read_head({buffer_.data(), filled});
    }
    if (!head.valid)
        co_return make_error_code(boost::system::errc::protocol_error);

    const bool fits = head.size + head.length <= buffer_.size();
    std::uint64_t received = filled - head.size;
    while (received < head.length) {
        // A body that does not fit overwrites the buffer and is discarded.
        const std::size_t room_from = fits ? head.size + received : 0;
        const auto got = co_await read_some(room_from);
        if (!got)
            co_return got.error();
        received += *got;
    }
    limit_.clear();
    answer read{.status = head.status, .length = head.length, .body = {}};
    if (fits)
        read.body = {buffer_.data() + head.size, head.length};
    co_return read;
}

awaitable<result<answer>> client::exchange(std::string_view request)
{
    if (const auto ec = co_await send(request))
        co_return ec;
    co_return co_await receive();
}

}  // namespace restante::bench
