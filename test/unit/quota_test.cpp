#include "storage/quota.hpp"

#include "server/api/workspaces/quota_form.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

std::optional<quota_kind> excess(quota_use used, quota_limits limits, quota_use more)
{
    return find_excess({.used = used, .limits = limits}, more);
}

TEST(quota, the_last_byte_and_the_last_file_fit)
{
    EXPECT_FALSE(excess({90, 3}, {100, 4}, {10, 1}));
    EXPECT_EQ(excess({90, 3}, {100, 4}, {11, 1}), quota_kind::bytes);
    EXPECT_EQ(excess({90, 3}, {100, 4}, {10, 2}), quota_kind::files);
    EXPECT_EQ(excess({100, 0}, {100, 4}, {1, 1}), quota_kind::bytes);
}

TEST(quota, zero_is_no_limit)
{
    EXPECT_FALSE(excess({most, most}, {}, {most, most}));
    EXPECT_FALSE(excess({most, 1}, {0, 2}, {most, 1}));
    EXPECT_EQ(excess({most, 1}, {0, 2}, {1, 2}), quota_kind::files);
}

TEST(quota, a_limit_that_was_lowered_below_the_use_admits_nothing)
{
    EXPECT_EQ(excess({500, 9}, {100, 0}, {1, 1}), quota_kind::bytes);
    EXPECT_EQ(excess({500, 9}, {0, 3}, {1, 1}), quota_kind::files);
}

TEST(quota, numbers_near_the_end_do_not_wrap)
{
    EXPECT_FALSE(excess({most - 1, 0}, {most, 0}, {1, 1}));
    EXPECT_EQ(excess({most - 1, 0}, {most, 0}, {2, 1}), quota_kind::bytes);
    EXPECT_EQ(excess({1, 0}, {most, 0}, {most, 1}), quota_kind::bytes);
}

TEST(quota, the_share_is_that_of_the_fuller_limit)
{
    EXPECT_DOUBLE_EQ(share_used({.used = {50, 3}, .limits = {100, 4}}), 0.75);
    EXPECT_DOUBLE_EQ(share_used({.used = {90, 1}, .limits = {100, 4}}), 0.9);
    EXPECT_DOUBLE_EQ(share_used({.used = {200, 1}, .limits = {100, 0}}), 2);
    EXPECT_DOUBLE_EQ(share_used({.used = {200, 1}, .limits = {}}), 0);
}

answerable<quota_change> read(const char* body)
{
    return read_quota_change(boost::json::parse(body));
}

TEST(quota_form, null_is_the_default_and_absence_no_change)
{
    const auto asked = read(R"({"max_bytes":null})");
    EXPECT_TRUE(asked->bytes.has_value());
    EXPECT_FALSE(*asked->bytes);
    EXPECT_FALSE(asked->files.has_value());
    EXPECT_EQ(read(R"({"max_bytes":0,"max_files":7})")->files, std::optional<std::int64_t>(7));
    for (const auto* bad : {"[]", "7", R"({"max_bytes":-1})", R"({"max_files":1.5})", R"({"max_files":"7"})",
                            R"({"max_bytes":18446744073709551615})"})
        EXPECT_EQ(read(bad).error().code, errc::bad_request) << bad;
}

}  // namespace
}  // namespace restante
