#include "server/commands/text_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace restante {
namespace {

TEST(text_table, columns_stand_in_line_whatever_the_alphabet)
{
    text_table table{"NAME", "MODE"};
    table.add({"Büro", "poll"});
    table.add({"laptop", "push"});
    std::ostringstream out;
    table.print(out);
    EXPECT_EQ(out.str(), "NAME    MODE\nBüro    poll\nlaptop  push\n");
}

TEST(text_table, a_name_cannot_move_the_cursor)
{
    text_table table{"NAME"};
    table.add({"\x1b[2Jgone\n"});
    std::ostringstream out;
    table.print(out);
    EXPECT_EQ(out.str(), "NAME\n?[2Jgone?\n");
}

}  // namespace
}  // namespace restante
