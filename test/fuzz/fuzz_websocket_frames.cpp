// The bytes of a client after the handshake, to a real session on a socket pair. For any input, the session
// ends when its client has stopped sending, and its output consists of complete server frames: unmasked,
// unfragmented, pongs, and one close frame at the end.
#include "http/net/connection.hpp"
#include "server/events/hub.hpp"
#include "server/events/websocket_session.hpp"
#include "test/fuzz/require.hpp"
#include "test/support/run.hpp"

#include <boost/beast/http/field.hpp>

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace restante;
namespace http = boost::beast::http;

constexpr unsigned char opcode_close = 8, opcode_pong = 10;

request_header handshake()
{
    request_header head;
    head.method(http::verb::get);
    head.target("/ws");
    head.version(11);
    head.set(http::field::host, "fuzz");
    head.set(http::field::connection, "Upgrade");
    head.set(http::field::upgrade, "websocket");
    head.set(http::field::sec_websocket_version, "13");
    head.set(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
    return head;
}

// A hub whose database is never opened: it delivers no events.
struct silent_shard {
    explicit silent_shard(executor ex) : requests(ex), pool(ex, {}), feed(pool), events(ex, feed, counts) {}
    metric_set counts;
    task_group requests;
    pq::connection_pool pool;
    feed_tail feed;
    hub events;
};

awaitable<void> serve(int descriptor)
{
    const executor ex = co_await asio::this_coro::executor;
    silent_shard shard(ex);
    tcp_socket socket(ex);
    socket.assign(asio::ip::tcp::v4(), descriptor);
    socket.non_blocking(true);
    connection conn((net_stream(std::move(socket))));
    auto& seen = shard.events.metrics();
    auto listener = std::make_shared<subscriber>(shard.events, ex, principal{}, uuid{}, seen);
    const auto head = handshake();
    websocket_welcome welcome{.request_id = "fuzz"};
    co_await run_websocket(conn, head, std::move(welcome), std::move(listener), seen, shard.requests);
}

std::string read_all(int descriptor)
{
    std::string all;
    char block[4096];
    for (;;) {
        const auto n = ::read(descriptor, block, sizeof block);
        if (n <= 0)
            return all;
        all.append(block, static_cast<std::size_t>(n));
    }
}

void check_frames(std::string_view sent)
{
    bool closed = false;
    while (!sent.empty()) {
        require(!closed && sent.size() >= 2);
        const auto first = static_cast<unsigned char>(sent[0]);
        const auto length = static_cast<unsigned char>(sent[1]);
        require(first == (0x80 | opcode_close) || first == (0x80 | opcode_pong));
        require(length <= 125 && sent.size() >= 2u + length);
        closed = first == (0x80 | opcode_close);
        sent.remove_prefix(2u + length);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    require(::write(ends[0], data, size) == static_cast<ssize_t>(size));
    ::shutdown(ends[0], SHUT_WR);
    test::run([&] { return serve(ends[1]); });

    const auto sent = read_all(ends[0]);
    ::close(ends[0]);
    const auto end_of_head = sent.find("\r\n\r\n");
    require(sent.starts_with("HTTP/1.1 101 ") && end_of_head != sent.npos);
    check_frames(std::string_view(sent).substr(end_of_head + 4));
    return 0;
}
