#include "core/clock.hpp"

#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono;

constexpr timestamp sample =
    timestamp(sys_days(year(2026) / 11 / 16)) + hours(1) + minutes(2) + seconds(3) + microseconds(123456);

TEST(clock, real_time_moves_and_fake_time_waits)
{
    const auto before = real_clock().now();
    EXPECT_GE(real_clock().now(), before);

    fake_clock fake;
    const auto start = fake.now();
    EXPECT_EQ(fake.now(), start);
    fake.advance(5s);
    EXPECT_EQ(fake.now() - start, 5s);
}

TEST(rfc3339, utc_with_six_digits)
{
    EXPECT_EQ(rfc3339(sample), "2026-11-16T01:02:03.123456Z");
    EXPECT_EQ(rfc3339(timestamp(0us)), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(rfc3339(timestamp(-1us)), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(rfc3339(system_clock::time_point(1999ns)), "1970-01-01T00:00:00.000001Z");
}

TEST(rfc3339, years_that_do_not_fit_come_to_the_edge)
{
    EXPECT_EQ(rfc3339(timestamp(sys_days(year(12000) / 1 / 1))), "9999-12-31T23:59:59.999999Z");
    EXPECT_EQ(rfc3339(timestamp(sys_days(year(-5) / 1 / 1))), "0000-01-01T00:00:00.000000Z");
}

TEST(rfc3339, reads_what_it_writes)
{
    EXPECT_EQ(parse_rfc3339(rfc3339(sample)), sample);
    for (const char* edge : {"0000-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z",
                             "2024-02-29T12:00:00.000000Z", "1600-06-01T00:00:00.000001Z"}) {
        const auto read = parse_rfc3339(edge);
        ASSERT_TRUE(read) << edge;
        EXPECT_EQ(rfc3339(*read), edge);
    }
}

TEST(rfc3339, offsets_become_utc)
{
    EXPECT_EQ(parse_rfc3339("2026-11-16T03:02:03.123456+02:00"), sample);
    EXPECT_EQ(parse_rfc3339("2026-11-15T19:32:03.123456-05:30"), sample);
    EXPECT_EQ(parse_rfc3339("2026-11-16t01:02:03.123456z"), sample);
    EXPECT_EQ(parse_rfc3339("2026-11-16T01:02:03.123456-00:00"), sample);
}

TEST(rfc3339, fractions_of_any_precision)
{
    EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01Z"), timestamp(1s));
    EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.5Z"), timestamp(500ms));
    EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.000001999Z"), timestamp(1us));
}

TEST(rfc3339, nonsense_is_refused)
{
    for (const char* text : {"",
                             "yesterday",
                             "2026-11-16",
                             "2026-11-16.123Z",  // hung the parser, and with it a shard
                             "2026-11-16T01:02:03",
                             "2026-11-16 01:02:03Z",
                             "2026-11-16T01:02Z",
                             "2026-13-01T00:00:00Z",
                             "2026-00-01T00:00:00Z",
                             "2026-02-29T00:00:00Z",
                             "2026-04-31T00:00:00Z",
                             "2026-01-00T00:00:00Z",
                             "2026-01-01T24:00:00Z",
                             "2026-01-01T00:60:00Z",
                             "2026-01-01T23:59:60Z",
                             "2026-01-01T00:00:00.Z",
                             "2026-01-01T00:00:00.1234567890Z",
                             "2026-01-01T00:00:00Z ",
                             " 2026-01-01T00:00:00Z",
                             "2026-01-01T00:00:00+0200",
                             "2026-01-01T00:00:00+24:00",
                             "2026-01-01T00:00:00+02:60",
                             "2026-01-01T00:00:00+02",
                             "26-01-01T00:00:00Z",
                             "-026-01-01T00:00:00Z",
                             "2026-01-01T00:00:00ZZ",
                             "2026-1-1T0:0:0Z",
                             "2026-01-01T00:00:00,5Z",
                             "12026-01-01T00:00:00Z"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(rfc3339, a_nul_in_the_text_is_refused)
{
    using namespace std::string_view_literals;
    EXPECT_FALSE(parse_rfc3339("2026-01-01T00:00:00\0Z"sv));
    EXPECT_FALSE(parse_rfc3339("2026-01-01T00:00:00Z\0"sv));
}

}  // namespace
}  // namespace restante
