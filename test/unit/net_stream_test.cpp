#include "http/net/net_stream.hpp"

#include "http/net/self_signed.hpp"
#include "http/net/tls_context.hpp"
#include "test/support/run.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <filesystem>
#include <sys/stat.h>

namespace restante::test {
namespace {

namespace beast = boost::beast;

class scratch_folder {
public:
    scratch_folder()
    {
        std::string pattern = "/tmp/restante-unit-XXXXXX";
        path_ = ::mkdtemp(pattern.data());
    }
    ~scratch_folder() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

tls_context make_server_context()
{
    const scratch_folder folder;
    const auto files = make_self_signed_if_needed(folder.path());
    EXPECT_TRUE(files);
    auto context = make_tls_context(*files);
    EXPECT_TRUE(context);
    return *context;
}

struct pair {
    net_stream server;
    tcp_socket client;
};

// Both ends of one loopback connection.
awaitable<pair> connect(SSL_CTX* context)
{
    const auto ex = co_await asio::this_coro::executor;
    tcp_acceptor acceptor(ex, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp_socket client(ex);
    client.connect(acceptor.local_endpoint());
    auto accepted = co_await acceptor.async_accept(use_await);
    if (context)
        co_return pair{net_stream(std::move(accepted), *context), std::move(client)};
    co_return pair{net_stream(std::move(accepted)), std::move(client)};
}

// A TLS client on a non-blocking socket of the same thread, driven by hand.
class tls_peer {
public:
    explicit tls_peer(tcp_socket socket)
        : socket_(std::move(socket)), context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_))
    {
        socket_.non_blocking(true);
        SSL_set_fd(ssl_, socket_.native_handle());
        SSL_set_connect_state(ssl_);
    }
    ~tls_peer()
    {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
    }

    awaitable<void> handshake()
    {
        for (int done = SSL_do_handshake(ssl_); done != 1; done = SSL_do_handshake(ssl_))
            co_await socket_.async_wait(tcp_socket::wait_read, use_await);
    }
    void send(std::string_view bytes)
    {
        EXPECT_GT(SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())), 0);
    }
    awaitable<std::string> receive(std::size_t wanted)
    {
        std::string received;
        while (received.size() < wanted) {
            char block[4096];
            const int got = SSL_read(ssl_, block, sizeof block);
            if (got > 0)
                received.append(block, static_cast<std::size_t>(got));
            else
                co_await socket_.async_wait(tcp_socket::wait_read, use_await);
        }
        co_return received;
    }
    void send_close() { SSL_shutdown(ssl_); }
    void cut() { socket_.close(); }

private:
    tcp_socket socket_;
    SSL_CTX* context_;
    SSL* ssl_;
};

awaitable<void> shake_hands(net_stream& server, tls_peer& peer)
{
    bool done = false;
    auto serve = [&]() -> awaitable<void> {
        const auto ec = co_await server.handshake();
        EXPECT_FALSE(ec) << ec.message();
        done = true;
    };
    asio::co_spawn(server.get_executor(), serve, [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
    co_await peer.handshake();
    while (!done)
        co_await asio::post(use_await);
}

TEST(net_stream, a_cut_differs_from_an_end)
{
    const auto context = make_server_context();
    run([&]() -> awaitable<void> {
        std::array<char, 16> block;
        for (const bool says_goodbye : {true, false}) {
            auto [server, client] = co_await connect(context.get());
            tls_peer peer(std::move(client));
            co_await shake_hands(server, peer);
            peer.send("hello");
            const auto [ec, bytes] = co_await server.async_read_some(asio::buffer(block), use_tuple);
            EXPECT_EQ(std::string_view(block.data(), bytes), "hello");
            if (says_goodbye)
                peer.send_close();
            peer.cut();
            const auto [end, none] = co_await server.async_read_some(asio::buffer(block), use_tuple);
            EXPECT_EQ(end, says_goodbye ? error_code(asio::error::eof) : make_error_code(errc::client_gone));
            EXPECT_EQ(none, 0u);
        }
        auto [server, client] = co_await connect(nullptr);
        client.close();
        const auto [end, none] = co_await server.async_read_some(asio::buffer(block), use_tuple);
        EXPECT_EQ(end, asio::error::eof);
    });
}

TEST(net_stream, small_buffers_travel_in_one_record)
{
    const auto context = make_server_context();
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(context.get());
        tls_peer peer(std::move(client));
        co_await shake_hands(server, peer);
        const std::string first = "one,", second = "two,", third = "three";
        const std::array<asio::const_buffer, 3> parts{asio::buffer(first), asio::buffer(second),
                                                      asio::buffer(third)};
        const auto sent = server.write_now(parts);
        EXPECT_EQ(sent.bytes, 13u);
        const auto received = co_await peer.receive(13);
        EXPECT_EQ(received, "one,two,three");
    });
}

TEST(net_stream, a_full_pipe_makes_the_writer_wait_and_loses_nothing)
{
    const auto context = make_server_context();
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(context.get());
        tls_peer peer(std::move(client));
        co_await shake_hands(server, peer);
        std::string sent(12'000'000, '\0');
        for (std::size_t i = 0; i < sent.size(); ++i)
            sent[i] = static_cast<char>(i * 131 + i / 1000);
        auto write = [&]() -> awaitable<void> {
            const std::array<asio::const_buffer, 2> halves{asio::buffer(sent.data(), 5'000'001),
                                                           asio::buffer(sent) + 5'000'001};
            const auto [ec, bytes] = co_await asio::async_write(server, halves, use_tuple);
            EXPECT_FALSE(ec);
            EXPECT_EQ(bytes, sent.size());
        };
        asio::co_spawn(server.get_executor(), write,
                       [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
        const auto received = co_await peer.receive(sent.size());
        EXPECT_TRUE(received == sent);
    });
}

TEST(net_stream, a_peer_that_speaks_something_else_is_a_protocol_error)
{
    const auto context = make_server_context();
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(context.get());
        co_await asio::async_write(client, asio::buffer("GET / HTTP/1.1\r\n\r\n", 18), use_await);
        const auto ec = co_await server.handshake();
        EXPECT_EQ(ec, boost::system::errc::protocol_error);
    });
}

TEST(net_stream, cancelling_ends_a_wait)
{
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(nullptr);
        asio::post(server.get_executor(), [&stream = server] { stream.cancel(); });
        std::array<char, 16> block;
        const auto [ec, bytes] = co_await server.async_read_some(asio::buffer(block), use_tuple);
        EXPECT_EQ(ec, asio::error::operation_aborted);
    });
}

TEST(net_stream, the_end_is_seen_without_reading)
{
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(nullptr);
        EXPECT_FALSE(server.peek_end());
        co_await asio::async_write(client, asio::buffer("x", 1), use_await);
        EXPECT_FALSE(server.peek_end());
        client.close();
        std::array<char, 1> byte;
        co_await server.async_read_some(asio::buffer(byte), use_await);
        co_await server.socket().async_wait(tcp_socket::wait_read, use_await);
        EXPECT_EQ(server.peek_end(), asio::error::eof);
    });
}

TEST(net_stream, beast_reads_and_writes_messages_on_it)
{
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(nullptr);
        const std::string_view text = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        co_await asio::async_write(client, asio::buffer(text), use_await);
        beast::flat_buffer buffer;
        beast::http::request<beast::http::string_body> request;
        co_await beast::http::async_read(server, buffer, request, use_await);
        EXPECT_EQ(request.body(), "hello");
        beast::http::response<beast::http::string_body> answer(beast::http::status::ok, 11, "world");
        answer.prepare_payload();
        co_await beast::http::async_write(server, answer, use_await);
        std::string received(64, '\0');
        const auto bytes = co_await client.async_read_some(asio::buffer(received), use_await);
        EXPECT_TRUE(std::string_view(received).substr(0, bytes).ends_with("world"));
    });
}

TEST(net_stream, websockets_run_on_it)
{
    run([&]() -> awaitable<void> {
        auto [server, client] = co_await connect(nullptr);
        beast::websocket::stream<net_stream> ours(std::move(server));
        beast::websocket::stream<tcp_socket> theirs(std::move(client));
        auto ask = [&]() -> awaitable<void> {
            co_await theirs.async_handshake("localhost", "/", use_await);
            co_await theirs.async_write(asio::buffer("ping", 4), use_await);
            co_await theirs.async_close(beast::websocket::close_code::normal, use_await);
        };
        asio::co_spawn(ours.get_executor(), ask, [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
        co_await ours.async_accept(use_await);
        beast::flat_buffer buffer;
        co_await ours.async_read(buffer, use_await);
        EXPECT_EQ(beast::buffers_to_string(buffer.data()), "ping");
        const auto [ec, bytes] = co_await ours.async_read(buffer, use_tuple);
        EXPECT_EQ(ec, beast::websocket::error::closed);
    });
}

TEST(self_signed, is_made_once_and_closed_to_others)
{
    const scratch_folder folder;
    const auto first = make_self_signed_if_needed(folder.path() + "/data");
    ASSERT_TRUE(first);
    struct stat key{};
    ASSERT_EQ(::stat(first->key.c_str(), &key), 0);
    EXPECT_EQ(key.st_mode & 0777, 0600u);
    const auto made = std::filesystem::last_write_time(first->certificate);
    ASSERT_TRUE(make_self_signed_if_needed(folder.path() + "/data"));
    EXPECT_EQ(std::filesystem::last_write_time(first->certificate), made);
    EXPECT_TRUE(make_tls_context(*first));
}

TEST(tls_context, says_what_is_wrong)
{
    const scratch_folder folder;
    const auto one = make_self_signed_if_needed(folder.path() + "/one");
    const auto two = make_self_signed_if_needed(folder.path() + "/two");
    ASSERT_TRUE(one && two);
    const auto mixed = make_tls_context({one->certificate, two->key});
    ASSERT_FALSE(mixed);
    EXPECT_NE(mixed.error().message.find("does not belong"), std::string::npos) << mixed.error().message;
    const auto missing = make_tls_context({folder.path() + "/none.pem", one->key});
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("none.pem"), std::string::npos);
    ::chmod(one->key.c_str(), 0644);
    const auto open = make_tls_context(*one);
    ASSERT_FALSE(open);
    EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
}

}  // namespace
}  // namespace restante::test
