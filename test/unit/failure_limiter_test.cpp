#include "auth/failure_limiter.hpp"

#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;

class failure_limiter_test : public ::testing::Test {
protected:
    bool fail(const std::string& from) { return limiter.note(make_address(from), time.now()); }
    bool fail_times(const std::string& from, int times)
    {
        bool limited = false;
        for (int i = 0; i < times; ++i)
            limited = fail(from);
        return limited;
    }

    fake_clock time;
    failure_limiter limiter;
};

TEST_F(failure_limiter_test, twenty_are_allowed_and_the_next_is_too_many)
{
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(fail("192.0.2.1")) << i;
    EXPECT_TRUE(fail("192.0.2.1"));
    EXPECT_TRUE(fail("192.0.2.1"));
}

TEST_F(failure_limiter_test, others_are_not_touched)
{
    EXPECT_TRUE(fail_times("192.0.2.1", 30));
    EXPECT_FALSE(fail("192.0.2.2"));
}

TEST_F(failure_limiter_test, the_window_slides)
{
    fail_times("192.0.2.1", 10);
    time.advance(6s);
    fail_times("192.0.2.1", 10);
    time.advance(3999ms);
    EXPECT_TRUE(fail("192.0.2.1")) << "the 21st within 10 s";
    time.advance(1ms);
    EXPECT_FALSE(fail("192.0.2.1")) << "the first ten are 10 s old";
    EXPECT_FALSE(fail_times("192.0.2.1", 8));
    EXPECT_TRUE(fail("192.0.2.1"));
}

TEST_F(failure_limiter_test, two_a_second_are_never_too_many)
{
    for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(fail("192.0.2.1"));
        time.advance(500ms);
    }
}

TEST_F(failure_limiter_test, goes_on_refusing_while_they_go_on_trying)
{
    fail_times("192.0.2.1", 20);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(fail("192.0.2.1"));
        time.advance(400ms);
    }
    time.advance(10s);
    EXPECT_FALSE(fail("192.0.2.1"));
}

TEST_F(failure_limiter_test, an_ipv6_network_of_64_bits_counts_as_one)
{
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(fail("2001:db8:1:2::" + std::to_string(i)));
    EXPECT_TRUE(fail("2001:db8:1:2:ffff::1"));
    EXPECT_FALSE(fail("2001:db8:1:3::1"));
}

TEST_F(failure_limiter_test, a_mapped_ipv4_address_is_that_address)
{
    fail_times("192.0.2.1", 20);
    EXPECT_TRUE(fail("::ffff:192.0.2.1"));
    EXPECT_FALSE(fail("::ffff:192.0.2.2"));
}

TEST_F(failure_limiter_test, remembers_a_bounded_number_of_places)
{
    for (unsigned i = 0; i < 12'000; ++i)
        limiter.note(boost::asio::ip::address_v4(0x0A000000u + i), time.now());
    EXPECT_EQ(limiter.size(), failure_limiter::max_places);
    time.advance(10s);
    fail("192.0.2.1");
    EXPECT_EQ(limiter.size(), 1u);
}

}  // namespace
}  // namespace restante
