#include "http/message/content_coding.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

TEST(content_coding, gzip_is_taken_where_it_is_welcome)
{
    for (const auto* text : {"gzip", "GZIP", "deflate, gzip", "br;q=1.0, gzip;q=0.8", " gzip ; q=0.001", "*",
                             "deflate, *;q=0.1", "gzip;level=9"})
        EXPECT_TRUE(accepts_gzip(text)) << text;
    for (const auto* text :
         {"", "identity", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *", "xgzip", ",,;"})
        EXPECT_FALSE(accepts_gzip(text)) << text;
}

}  // namespace
}  // namespace restante
