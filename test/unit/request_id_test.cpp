#include "http/message/request_id.hpp"

#include "core/ids.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

TEST(request_id, the_clients_is_kept_when_it_is_plain)
{
    for (const std::string& text :
         {std::string("abcdEF12"), std::string("0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6"),
          std::string("--------"), std::string(64, 'z')})
        EXPECT_EQ(request_id(text).view(), text);
}

TEST(request_id, anything_else_is_replaced)
{
    for (const std::string& text :
         {std::string(), std::string("abcdefg"), std::string(65, 'z'), std::string("abcd efgh"),
          std::string("abcdefgh\n"), std::string("abc\0defgh", 9), std::string("abcd_efgh"),
          std::string("abcdefg\xc3\xbc")}) {
        const request_id made(text);
        EXPECT_NE(made.view(), text);
        EXPECT_TRUE(parse_uuid(made.view())) << made.view();
    }
    EXPECT_NE(request_id("").view(), request_id("").view());
}

}  // namespace
}  // namespace restante
