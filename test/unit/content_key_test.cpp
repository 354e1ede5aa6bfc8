#include "storage/content/content_key.hpp"
#include "storage/content/content_stores.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

constexpr std::string_view id = "0193a1b2-0000-7000-8000-000000000001";

TEST(content_key, begins_with_the_hour_and_is_read_back)
{
    const auto moment = parse_rfc3339("2026-11-16T18:59:59.999999Z").value();
    const auto key = make_content_key(parse_uuid(id).value(), moment);
    EXPECT_EQ(key, "2026-11-16T18/" + std::string(id));
    const auto parsed = parse_content_key(key);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->hour, "2026-11-16T18");
    EXPECT_EQ(to_string(parsed->file), id);
}

TEST(content_key, nothing_else_becomes_a_path)
{
    const std::string name(id);
    const std::vector<std::string> wrong{
          "", name, "/" + name, "../../../etc/passwd", "2026-11-16T18/../" + name,
          "2026-11-16T18/" + name + "/x", "2026-11-16T24/" + name, "2026-13-16T18/" + name,
          "2026-11-16T18/0193A1B2-0000-7000-8000-000000000001", "2026-11-16T18//" + name.substr(1),
          "2026-11-16t18/" + name, "2026-11-16T18/" + name + '\0'};
    for (const auto& text : wrong)
        EXPECT_FALSE(parse_content_key(text)) << text;
    EXPECT_TRUE(is_hour("2026-11-16T00"));
    EXPECT_FALSE(is_hour("2026-11-16"));
    EXPECT_FALSE(is_hour("lost+found"));
}

TEST(content_policy, small_files_stay_in_their_rows_whatever_the_store)
{
    const content_policy in_rows{};
    EXPECT_EQ(in_rows.place_for(25 << 20), content_place::inline_);
    const content_policy outside{.store = content_place::directory, .inline_max = 1000};
    EXPECT_EQ(outside.place_for(1000), content_place::inline_);
    EXPECT_EQ(outside.place_for(1001), content_place::directory);
    const content_policy everything{.store = content_place::s3, .inline_max = 0};
    EXPECT_EQ(everything.place_for(1), content_place::s3);
}

TEST(content_place, has_a_name_both_ways)
{
    for (const auto name : content_place_names)
        EXPECT_EQ(name_of(content_place_named(name).value()), name);
    EXPECT_FALSE(content_place_named("tape"));
}

}  // namespace
}  // namespace restante
