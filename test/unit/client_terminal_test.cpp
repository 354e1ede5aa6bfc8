#include "client/progress_text.hpp"
#include "client/terminal_text.hpp"

#include <gtest/gtest.h>

namespace restante::client {
namespace {

TEST(client_terminal_text, nothing_that_steers_a_terminal_is_left)
{
    EXPECT_EQ(printable("a\x1b[2Jb\r\n\x7f"), "a?[2Jb???");
    EXPECT_EQ(printable("\xC2\x9b"
                        "31m"),
              "?31m")
        << "CSI as one character";
    EXPECT_EQ(printable("photo\xE2\x80\xAEgpj.exe"), "photo?gpj.exe") << "turned around";
    EXPECT_EQ(printable("a\xE2\x81\xA6"
                        "b\xE2\x80\xA8"
                        "c"),
              "a?b?c");
    EXPECT_EQ(printable("\xff\xc3\xa9"), "?é");
    EXPECT_EQ(printable("a\tb"), "a b");
    EXPECT_EQ(printable(std::string(1000, 'x'), 10), "xxxxxxxxxx…");
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
    EXPECT_EQ(printable("日本語 Ñandú"), "日本語 Ñandú");
}

TEST(client_terminal_text, lines_stay_lines)
{
    EXPECT_EQ(printable_lines("one\n\x1b]0;x\x07\n"), "one\n?]0;x?\n");
    EXPECT_EQ(printable_lines(""), "");
    EXPECT_EQ(printable_lines("\n\n"), "\n\n");
    EXPECT_EQ(printable_lines(std::string(5000, 'x')).size(), 5000u);
}

TEST(client_terminal_text, wide_characters_take_two_columns_and_marks_none)
{
    EXPECT_EQ(columns("abc"), 3u);
    EXPECT_EQ(columns("日本語"), 6u);
    EXPECT_EQ(columns("e\xCC\x81"), 1u);
    EXPECT_EQ(columns("😀"), 2u);
    for (const auto* text : {"abcdefghij", "日本語日本語", "😀😀😀😀", "é", ""})
        for (std::size_t width = 0; width < 14; ++width)
            EXPECT_EQ(columns(fitted(text, width)), width) << text;
    EXPECT_EQ(fitted("abcdef", 4), "abc…");
    EXPECT_EQ(fitted("日本語", 5), "日本…");
    EXPECT_EQ(fitted("日本語", 4), "日… ") << "no half of a character";
}

TEST(client_terminal_text, the_whole_is_what_is_done_under_way_and_waiting)
{
    whole_view view{.finished = {3, 30 << 20}, .under_way = {2, 20 << 20}, .done = 5 << 20, .rate = 1 << 20};
    EXPECT_EQ(summary_line(view, 100),
              "3 done, 2 under way   70%  35.0 MiB of 50.0 MiB  1.0 MiB/s  0:15 left");
    view.waiting = {95, 50 << 20};
    EXPECT_EQ(summary_line(view, 100),
              "3 done, 2 under way, 95 waiting   35%  35.0 MiB of 100 MiB  1.0 MiB/s  1:05 left");
    for (std::size_t width = 20; width < 100; ++width)
        EXPECT_LE(columns(summary_line(view, width)), width);
}

TEST(client_terminal_text, a_bar_for_a_wide_name_fits_into_the_terminal)
{
    for (std::size_t width = 20; width < 140; ++width)
        EXPECT_LE(columns(transfer_line({"報告書報告書報告書報告書.pdf", 5, 10, 1000}, width, false)), width);
}

}  // namespace
}  // namespace restante::client
