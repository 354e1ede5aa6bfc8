// The parts of the load tool that determine what a reported number means.
#include "bench/answer_reader.hpp"
#include "bench/failure.hpp"
#include "bench/flags.hpp"
#include "bench/histogram.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante::bench {
namespace {

using std::chrono::microseconds;

TEST(bench_histogram, is_empty_at_first)
{
    const histogram nothing;
    EXPECT_EQ(nothing.count(), 0U);
    EXPECT_EQ(nothing.percentile(0.99), 0);
    EXPECT_EQ(nothing.mean(), 0);
}

TEST(bench_histogram, tells_percentiles_within_two_per_cent)
{
    histogram seen;
    for (int i = 1; i <= 100'000; ++i)
        seen.record(microseconds(i));
    EXPECT_EQ(seen.count(), 100'000U);
    EXPECT_NEAR(seen.percentile(0.5), 50'000, 1'000);
    EXPECT_NEAR(seen.percentile(0.99), 99'000, 1'980);
    EXPECT_NEAR(seen.percentile(0.999), 99'900, 1'998);
    EXPECT_NEAR(seen.mean(), 50'000.5, 0.01);
    EXPECT_EQ(seen.max(), 100'000);
}

TEST(bench_histogram, is_exact_where_values_are_small)
{
    histogram seen;
    seen.record(microseconds(-5));  // a response that overtook its reference
    seen.record(microseconds(3));
    seen.record(microseconds(63));
    EXPECT_EQ(seen.percentile(0.3), 0);
    EXPECT_EQ(seen.percentile(0.5), 3);
    EXPECT_EQ(seen.percentile(1), 63);
}

TEST(bench_histogram, never_tells_more_than_the_highest_value)
{
    histogram seen;
    seen.record(std::chrono::hours(5));
    EXPECT_LE(seen.percentile(0.999), seen.max());
    seen.record(microseconds(1'000'001));
    EXPECT_NEAR(seen.percentile(0.5), 1'000'001, 16'000);
}

TEST(bench_histogram, adds_up)
{
    histogram left, right;
    left.record(microseconds(10));
    right.record(microseconds(20));
    right.record(microseconds(30));
    left.add(right);
    EXPECT_EQ(left.count(), 3U);
    EXPECT_EQ(left.percentile(0.5), 20);
    EXPECT_EQ(left.max(), 30);
}

TEST(bench_answer, is_read_as_far_as_it_matters)
{
    const std::string_view received =
        "HTTP/1.1 200 OK\r\nDate: now\r\ncontent-LENGTH: 12\r\nX: 1\r\n\r\nhello";
    const auto head = read_head(received);
    EXPECT_TRUE(head.valid);
    EXPECT_EQ(head.status, 200U);
    EXPECT_EQ(head.length, 12U);
    EXPECT_EQ(head.size, received.find("hello"));
}

TEST(bench_answer, waits_for_the_empty_line)
{
    EXPECT_EQ(read_head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n").size, 0U);
}

TEST(bench_answer, without_a_length_is_not_valid)
{
    EXPECT_FALSE(read_head("HTTP/1.1 200 OK\r\nX-Content-Length: 5\r\n\r\n").valid);
    EXPECT_FALSE(read_head("SSH-2.0\r\n\r\n").valid);
    EXPECT_TRUE(read_head("HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n").valid);
}

TEST(bench_answer, gives_the_text_of_a_member)
{
    EXPECT_EQ(text_member(R"([{"id":"a","file_id":"b"}])", "file_id"), "b");
    EXPECT_EQ(text_member(R"({"size":5})", "size"), "");
}

options parsed(const std::vector<std::string>& arguments)
{
    options into;
    parse_flags(arguments, into);
    return into;
}

std::string complaint(const std::vector<std::string>& arguments)
{
    try {
        parsed(arguments);
    } catch (const failure& wrong) {
        return wrong.what();
    }
    return "";
}

TEST(bench_flags, keep_their_defaults)
{
    const auto opts = parsed({"upload:10KiB", "poll:10"});
    EXPECT_EQ(opts.workloads, (std::vector<std::string>{"upload:10KiB", "poll:10"}));
    EXPECT_EQ(opts.connections, 32U);
    EXPECT_FALSE(opts.server_pid);
    EXPECT_FALSE(opts.quiet);
}

TEST(bench_flags, take_their_value_after_a_space_or_an_equals_sign)
{
    const auto opts = parsed({"--connections", "4", "--seconds=0.5", "poll:10", "--metrics=[::1]:9464",
                              "--quiet", "--server-pid", "17", "--json", "out=1.json"});
    EXPECT_EQ(opts.connections, 4U);
    EXPECT_EQ(opts.seconds, 0.5);
    EXPECT_EQ(opts.workloads, std::vector<std::string>{"poll:10"});
    EXPECT_EQ(opts.metrics->port, 9464);
    EXPECT_TRUE(opts.quiet);
    EXPECT_EQ(opts.server_pid, 17);
    EXPECT_EQ(opts.json, "out=1.json");
}

TEST(bench_flags, that_are_wrong_are_named)
{
    using testing::HasSubstr;
    EXPECT_THAT(complaint({"--conections", "4"}), HasSubstr("--conections"));
    EXPECT_THAT(complaint({"-q"}), HasSubstr("-q"));
    EXPECT_THAT(complaint({"--seconds"}), HasSubstr("--seconds S"));
    EXPECT_THAT(complaint({"--quiet=yes"}), HasSubstr("--quiet takes no value"));
}

TEST(bench_flags, refuse_values_of_another_type)
{
    using testing::HasSubstr;
    EXPECT_THAT(complaint({"--connections", "many"}), HasSubstr("--connections must be a whole number"));
    EXPECT_THAT(complaint({"--connections=-1"}), HasSubstr("--connections must be a whole number"));
    EXPECT_THAT(complaint({"--connections=4294967296"}), HasSubstr("--connections must be a whole number"));
    EXPECT_THAT(complaint({"--seconds", "5s"}), HasSubstr("--seconds must be a number"));
    EXPECT_THAT(complaint({"--seconds", "inf"}), HasSubstr("--seconds must be a number"));
    EXPECT_THAT(complaint({"--server-pid", "0"}), HasSubstr("--server-pid must be a process id"));
    EXPECT_THAT(complaint({"--metrics", "9464"}), HasSubstr("--metrics must be an address"));
}

}  // namespace
}  // namespace restante::bench
