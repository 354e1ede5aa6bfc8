#include "core/task_group.hpp"
#include "core/unique_fd.hpp"
#include "http/net/connection.hpp"
#include "test/support/run.hpp"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <unistd.h>

namespace restante::test {
namespace {

constexpr std::size_t mib = 1024 * 1024;

// A file without a name, whose bytes differ from page to page.
class scratch_file {
public:
    explicit scratch_file(std::size_t size)
    {
        std::string name = "/tmp/restante-unit-XXXXXX";
        file_ = unique_fd(::mkstemp(name.data()));
        ::unlink(name.c_str());
        for (std::size_t i = 0; i < size; ++i)
            bytes_.push_back(static_cast<char>(i * 31 + i / 4096));
        EXPECT_EQ(::pwrite(file_.get(), bytes_.data(), size, 0), static_cast<ssize_t>(size));
    }
    file_part part(std::size_t first, std::size_t length) const { return {file_.get(), first, length}; }
    std::string_view bytes() const { return bytes_; }
    void shorten(std::size_t size) { EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(size)), 0); }

private:
    unique_fd file_;
    std::string bytes_;
};

struct two_ends {
    std::unique_ptr<connection> server;
    tcp_socket client;
};

// The server's end of a loopback connection, with little room in the kernel, and the client's.
awaitable<two_ends> connect()
{
    const auto ex = co_await asio::this_coro::executor;
    tcp_acceptor acceptor(ex, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp_socket client(ex);
    client.open(tcp::v4());
    client.set_option(asio::socket_base::receive_buffer_size(64 * 1024));
    client.connect(acceptor.local_endpoint());
    client.non_blocking(true);
    auto accepted = co_await acceptor.async_accept(use_await);
    accepted.set_option(asio::socket_base::send_buffer_size(64 * 1024));
    co_return two_ends{std::make_unique<connection>(net_stream(std::move(accepted))), std::move(client)};
}

awaitable<void> send_and_close(connection& from, file_part part, error_code& ended)
{
    ended = co_await from.send_file("", part);
    from.stream.shutdown_send();
}

awaitable<std::string> receive_all(tcp_socket& from)
{
    std::string received;
    std::vector<char> block(50'000);
    for (;;) {
        const auto [ec, bytes] = co_await from.async_read_some(asio::buffer(block), use_tuple);
        if (ec)
            co_return received;
        received.append(block.data(), bytes);
    }
}

// What the client receives of a part of a file, and how sending ended.
std::pair<std::string, error_code> transfer(file_part part)
{
    std::string received;
    error_code ended;
    run([&]() -> awaitable<void> {
        auto ends = co_await connect();
        task_group tasks(co_await asio::this_coro::executor);
        tasks.spawn("send", send_and_close(*ends.server, part, ended));
        received = co_await receive_all(ends.client);
    });
    return {std::move(received), ended};
}

TEST(send_file, a_socket_that_is_full_again_and_again_gets_every_byte_once)
{
    const scratch_file file(5 * mib + 17);
    const auto [received, ended] = transfer(file.part(0, 5 * mib + 17));
    EXPECT_FALSE(ended);
    EXPECT_TRUE(received == file.bytes());
}

TEST(send_file, a_part_begins_and_ends_where_it_says)
{
    const scratch_file file(2 * mib);
    const auto [received, ended] = transfer(file.part(5'000, mib + 1));
    EXPECT_FALSE(ended);
    EXPECT_TRUE(received == file.bytes().substr(5'000, mib + 1));
}

TEST(send_file, a_file_that_has_become_shorter_is_lost)
{
    scratch_file file(2 * mib);
    file.shorten(mib + 3);
    const auto [received, ended] = transfer(file.part(0, 2 * mib));
    EXPECT_EQ(ended, errc::content_lost);
    EXPECT_TRUE(received == file.bytes().substr(0, mib + 3));
}

// A client that always has room must not keep its shard to itself.
TEST(send_file, others_get_their_turn_meanwhile)
{
    const scratch_file file(8 * mib);
    int turns = 0;
    run([&]() -> awaitable<void> {
        auto ends = co_await connect();
        const auto ex = co_await asio::this_coro::executor;
        ends.server->stream.socket().set_option(asio::socket_base::send_buffer_size(64 * mib));
        task_group tasks(ex);
        error_code ended;
        bool done = false;
        auto sender = [&]() -> awaitable<void> {
            ended = co_await ends.server->send_file("", file.part(0, 8 * mib));
            ends.server->stream.shutdown_send();
            done = true;
        };
        auto other = [&]() -> awaitable<void> {
            while (!done) {
                ++turns;
                co_await asio::post(use_await);
            }
        };
        tasks.spawn("send", sender());
        tasks.spawn("other", other());
        const auto received = co_await receive_all(ends.client);
        EXPECT_EQ(received.size(), 8 * mib);
    });
    EXPECT_GE(turns, 7);  // one between two MiB
}

}  // namespace
}  // namespace restante::test
