#include "client/plain_json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <limits>

namespace restante::client {
namespace {

namespace json = boost::json;

TEST(client_plain_json, a_number_that_is_none_is_null)
{
    json::value some{{"rate", std::numeric_limits<double>::infinity()},
                     {"left", {std::numeric_limits<double>::quiet_NaN(), 1.5}},
                     {"count", 3}};
    make_plain(some);
    EXPECT_EQ(json::serialize(some), R"({"rate":null,"left":[null,1.5E0],"count":3})");
    auto told = json::parse(R"([1e999, -1e999, 1e-999])");
    make_plain(told);
    EXPECT_EQ(json::serialize(told), "[null,null,0E0]");
}

TEST(client_plain_json, a_text_is_utf8)
{
    json::value some{{"path", std::string("caf\xE9/\xF0\x9F\x98\x80")}, {"name", "é"}};
    make_plain(some);
    EXPECT_EQ(some.at("path").as_string(), "caf\xEF\xBF\xBD/\xF0\x9F\x98\x80");
    EXPECT_EQ(some.at("name").as_string(), "é");
}

}  // namespace
}  // namespace restante::client
