#include "server/api/common/own_url.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

request_header head_from(std::string_view host, std::string_view forwarded_proto = {})
{
    request_header head;
    head.set(http::field::host, host);
    if (!forwarded_proto.empty())
        head.set("X-Forwarded-Proto", forwarded_proto);
    return head;
}

TEST(own_url, is_what_the_operator_says)
{
    EXPECT_EQ(own_url(head_from("10.0.0.7:8080"), false, "https://files.example/box"),
              "https://files.example/box");
}

TEST(own_url, is_else_what_the_request_says)
{
    EXPECT_EQ(own_url(head_from("a.example:8080"), false, ""), "http://a.example:8080");
    EXPECT_EQ(own_url(head_from("a.example"), true, ""), "https://a.example");
    EXPECT_EQ(own_url(head_from("a.example", "HTTPS"), false, ""), "https://a.example");
    EXPECT_EQ(own_url(head_from("a.example", "http"), false, ""), "http://a.example");
    EXPECT_EQ(own_url(head_from("a.example", "http"), true, ""), "https://a.example");
}

}  // namespace
}  // namespace restante
