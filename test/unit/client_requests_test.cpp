#include "client/server_api.hpp"
#include "http/client/client_error.hpp"
#include "test/support/run.hpp"
#include "test/support/scripted_server.hpp"

#include <gtest/gtest.h>

namespace restante::client {
namespace {

using namespace std::chrono_literals;

outcome<answer> ask(std::uint16_t port, std::chrono::milliseconds within)
{
    settings config;
    config.server = "http://127.0.0.1:" + std::to_string(port);
    config.url = *parse_http_url(config.server);
    auto token = *token_source::open(config);
    outcome<answer> out;
    test::run([&]() -> awaitable<void> {
        server_api api(co_await asio::this_coro::executor, config, nullptr, token);
        out = co_await api.get("/", within);
    });
    return out;
}

TEST(client_requests, an_answer_must_begin_in_time_and_may_be_long)
{
    test::scripted_server silent([](test::accepted_socket& peer, int) { peer.read_rest(); });
    const auto none = ask(silent.port(), 300ms);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, "timeout");

    test::scripted_server slow([](test::accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
        for (int i = 0; i < 4; ++i) {
            std::this_thread::sleep_for(200ms);  // together longer than the beginning may take
            peer.send("x");
        }
    });
    const auto whole = ask(slow.port(), 300ms);
    ASSERT_TRUE(whole) << whole.error().text;
    EXPECT_EQ(whole->body, "xxxx");
}

TEST(client_requests, a_message_may_be_as_large_as_any_server_allows)
{
    const std::string mebibyte(1 << 20, 'x');
    test::scripted_server server([&](test::accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(100 << 20) + "\r\n\r\n");
        for (int i = 0; i < 100; ++i)
            peer.send(mebibyte);
    });
    const auto whole = ask(server.port(), 10s);
    ASSERT_TRUE(whole) << whole.error().text;
    EXPECT_EQ(whole->body.size(), 100u << 20);
}

TEST(client_requests, only_a_certificate_does_not_become_right_by_asking_again)
{
    for (const auto lasting : {client_errc::tls_failed, client_errc::certificate_untrusted,
                               client_errc::certificate_of_other_host, client_errc::certificate_expired}) {
        const auto why = network_failure(lasting, "x");
        EXPECT_FALSE(why.transient);
        EXPECT_EQ(why.code, "tls_failed");
        EXPECT_EQ(why.text.find("--ca-file") != std::string::npos,
                  lasting == client_errc::certificate_untrusted);
    }
    for (const auto passing : {client_errc::broken, client_errc::late, client_errc::connect_failed})
        EXPECT_TRUE(network_failure(passing, "x").transient);
}

}  // namespace
}  // namespace restante::client
