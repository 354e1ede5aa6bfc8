#include "core/encoding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::string_literals;

std::span<const unsigned char> bytes_of(const std::string& text)
{
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

TEST(encoding, hex)
{
    EXPECT_EQ(to_hex(bytes_of("\x00\x1F\xAB\xFF"s)), "001fabff");
    EXPECT_EQ(to_hex({}), "");
}

TEST(encoding, base64_as_in_rfc_4648)
{
    EXPECT_EQ(to_base64(bytes_of("")), "");
    EXPECT_EQ(to_base64(bytes_of("f")), "Zg==");
    EXPECT_EQ(to_base64(bytes_of("fo")), "Zm8=");
    EXPECT_EQ(to_base64(bytes_of("foo")), "Zm9v");
    EXPECT_EQ(to_base64(bytes_of("foobar")), "Zm9vYmFy");
    EXPECT_EQ(to_base64(bytes_of("\xFB\xFF\xFE")), "+//+");
    EXPECT_EQ(to_base64url(bytes_of("\xFB\xFF\xFE")), "-__-");
    EXPECT_EQ(to_base64url(bytes_of("f")), "Zg");
}

TEST(encoding, base64url_there_and_back)
{
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        const auto back = from_base64url(to_base64url(bytes_of(bytes)));
        ASSERT_TRUE(back);
        ASSERT_EQ(*back, bytes);
        bytes += static_cast<char>(i * 37 + 11);
    }
}

TEST(encoding, base64url_has_one_spelling)
{
    for (const auto& text : {"Zg=="s, "Zg="s, "Z"s, "Zm9vY"s, "Zm+v"s, "Zm/v"s, "Zm v"s, "Zm9v\n"s, "Zm\0v"s,
                             "Z\xC3"s, "Zh"s /* stray bits */, "Zm9"s /* stray bits */})
        EXPECT_FALSE(from_base64url(text)) << text;
    EXPECT_EQ(from_base64url("Zm8"), "fo");
    EXPECT_EQ(from_base64url(""), "");
}

}  // namespace
}  // namespace restante
