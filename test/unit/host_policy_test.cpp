#include "http/message/host_policy.hpp"

#include "http/session/host_check.hpp"
#include "test/support/fake_clock.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/read_head.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using testing::read_head;

TEST(host_policy, a_loopback_listener_serves_loopback_names_on_any_port)
{
    const auto policy = host_policy::on_loopback({});
    for (const auto* host :
         {"localhost", "LocalHost", "localhost:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3:1", "[::1]",
          "[::1]:8080", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80", ""})
        EXPECT_TRUE(policy.serves(host)) << host;
    for (const auto* host : {"evil.example",
                             "evil.example:8080",
                             "localhost.evil.example",
                             "127.0.0.1.evil.example",
                             "localhos",
                             "xlocalhost",
                             "evil.localhost",
                             "localhost.",
                             "10.0.0.1",
                             "0.0.0.0",
                             "128.0.0.1",
                             "[::]",
                             "[::2]",
                             "[fe80::1]:8080",
                             "127.1",
                             "2130706433",
                             "0x7f000001",
                             ":8080",
                             "[::1",
                             "::1"})
        EXPECT_FALSE(policy.serves(host)) << host;
}

TEST(host_policy, allowed_hosts_are_served_besides)
{
    const auto policy = host_policy::on_loopback({"Chat.Example", "10.0.0.7", "[fd00::7]"});
    for (const auto* host : {"chat.example", "CHAT.example:443", "10.0.0.7:8080", "[fd00::7]", "[FD00::7]:80",
                             "localhost", "127.0.0.1:9"})
        EXPECT_TRUE(policy.serves(host)) << host;
    for (const auto* host : {"evil.example", "a.chat.example", "chat.example.evil", "10.0.0.8", "[fd00::8]"})
        EXPECT_FALSE(policy.serves(host)) << host;
    EXPECT_TRUE(host_policy::on_loopback({"*"}).serves("evil.example"));
}

TEST(host_policy, another_listener_serves_every_host_until_one_is_named)
{
    EXPECT_TRUE(host_policy::elsewhere({}).serves("whatever.example:80"));
    const auto named = host_policy::elsewhere({"chat.example"});
    for (const auto* host : {"chat.example", "10.0.0.7:8080", "[fd00::7]", "localhost", ""})
        EXPECT_TRUE(named.serves(host)) << host;
    EXPECT_FALSE(named.serves("whatever.example"));
}

TEST(host_policy, the_host_stands_in_the_field_or_in_the_target)
{
    EXPECT_EQ(requested_host(read_head("GET / HTTP/1.1\r\nHost: a:1\r\n\r\n").header), "a:1");
    EXPECT_EQ(requested_host(read_head("GET http://b:2/x HTTP/1.0\r\n\r\n").header), "b:2");
    EXPECT_EQ(requested_host(read_head("GET / HTTP/1.0\r\n\r\n").header), "");
}

TEST(host_check, says_in_the_log_what_is_to_be_set_once_a_minute)
{
    const auto head = read_head("GET / HTTP/1.1\r\nHost: chat.example\r\n\r\n").header;
    const log_capture log;
    fake_clock time;
    host_check check(host_policy::on_loopback({}));
    for (int second = 0; second <= 60; ++second) {
        EXPECT_FALSE(check.admits(head, time.now()));
        time.advance(std::chrono::seconds(1));
    }
    const auto lines = log.lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_NE(lines[0].find("chat.example"), std::string::npos);
    EXPECT_NE(lines[0].find("--allowed-host"), std::string::npos);
}

}  // namespace
}  // namespace restante
