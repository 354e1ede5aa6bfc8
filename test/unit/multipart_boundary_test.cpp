#include "http/multipart/boundary.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

std::string boundary_of(const std::string& content_type)
{
    const auto found = boundary::from_content_type(content_type);
    return found ? found->text() : found.error().message();
}

TEST(multipart_boundary, found_wherever_it_stands)
{
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
    EXPECT_EQ(boundary_of("MULTIPART/Form-Data;BOUNDARY=abc"), "abc");
    EXPECT_EQ(boundary_of("multipart/form-data; charset=utf-8; boundary=abc"), "abc");
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc; charset=\"a;boundary=x\""), "abc");
    EXPECT_EQ(boundary_of(" multipart/form-data \t;\t boundary=abc \t"), "abc");
    EXPECT_EQ(boundary_of("multipart/form-data;; ;boundary=abc;"), "abc");
    EXPECT_EQ(boundary_of("multipart/form-data; xboundary=no; boundary=abc"), "abc");
}

TEST(multipart_boundary, quoted_or_not)
{
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=\"a b=1\""), "a b=1");
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=\"'()+_,-./:=?\""), "'()+_,-./:=?");
    EXPECT_EQ(boundary_of("multipart/form-data; boundary===_a/b:c=="), "==_a/b:c==");
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW"),
              "----WebKitFormBoundary7MA4YWxkTrZu0gW");
}

TEST(multipart_boundary, one_to_seventy_characters)
{
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=b"), "b");
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(70, 'b')), std::string(70, 'b'));
}

TEST(multipart_boundary, missing_repeated_or_illegal_is_malformed)
{
    for (const auto& parameters : {""s,
                                   ";"s,
                                   "; charset=utf-8"s,
                                   "; boundary"s,
                                   "; boundary="s,
                                   "; boundary=\"\""s,
                                   "; boundary=\"abc"s,
                                   "; boundary=a; boundary=a"s,
                                   "; boundary=a; Boundary=b"s,
                                   "; boundary=a b"s,
                                   "; boundary =a"s,
                                   "; boundary= a"s,
                                   "; boundary=\"a \""s,
                                   "; boundary=\"a\"b"s,
                                   "; boundary=\"a\\b\""s,
                                   "; boundary=\"a\r\nb\""s,
                                   "; boundary=\"a\0b\""s,
                                   "; boundary=caf\xC3\xA9"s,
                                   "; boundary=a*b"s,
                                   "; boundary=a; =b"s,
                                   "; boundary=a; c"s,
                                   "; boundary=" + std::string(71, 'b')}) {
        const auto found = boundary::from_content_type("multipart/form-data" + parameters);
        ASSERT_FALSE(found) << parameters;
        EXPECT_EQ(found.error(), errc::malformed_multipart) << parameters;
    }
}

TEST(multipart_boundary, other_media_types_are_unsupported)
{
    for (const auto& type :
         {""s, "text/plain"s, "multipart/mixed; boundary=a"s, "multipart/form-datax; boundary=a"s,
          "multipart/form-data boundary=a"s, "multipart/form-data, text/plain; boundary=a"s, "; boundary=a"s,
          "multipart/form-dat\0; boundary=a"s}) {
        const auto found = boundary::from_content_type(type);
        ASSERT_FALSE(found) << type;
        EXPECT_EQ(found.error(), errc::unsupported_media_type) << type;
    }
}

}  // namespace
}  // namespace restante::multipart
