#include "http/session/chunk_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::string_literals;

TEST(chunk_line, every_beginning_of_a_right_line_can_become_one)
{
    for (const auto& line : {"5\r\n"s, "1A;name=value\r\n"s, "ffffffffffffffff\r\n"s, "0\r\n\r\n"s,
                             "5 ; a=\"b c\"\r\n"s, "5\t;a\r\n"s, "0\r\nX-Trailer: a\r\n"s})
        for (std::size_t size = 0; size <= line.size(); ++size) {
            EXPECT_TRUE(can_become_chunk_line(line.substr(0, size), false)) << line.substr(0, size);
            const auto after = ("\r\n" + line).substr(0, size + 2);
            EXPECT_TRUE(can_become_chunk_line(after, true)) << after;
        }
    EXPECT_TRUE(can_become_chunk_line("\r", true));
}

TEST(chunk_line, a_wrong_byte_is_known_as_soon_as_it_is_there)
{
    for (const auto& begun : {"x"s,
                              "-1"s,
                              "+5"s,
                              " 5"s,
                              "0x5"s,
                              "5x"s,
                              "5,"s,
                              "5\n"s,
                              "5\rx"s,
                              "5\r\r"s,
                              ";"s,
                              "\r"s,
                              "\n"s,
                              "5;a\n"s,
                              "5;a\x01"s,
                              "5;a\0"s,
                              "5;a\rb"s,
                              "\xff"s,
                              "00000000000000005"s,
                              "5;" + std::string(300, 'a')})
        EXPECT_FALSE(can_become_chunk_line(begun, false)) << begun;
    for (const auto& begun : {"5"s, "x"s, "\n"s, "\r5"s, "\rx"s, "\r\nx"s, "\r\n\r"s, "\r\n5x"s})
        EXPECT_FALSE(can_become_chunk_line(begun, true)) << begun;
}

}  // namespace
}  // namespace restante
