#include "storage/migration_plan.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const std::vector<embedded_file> three_pairs{
    {"0001_one.down.sql", "drop 1"}, {"0001_one.up.sql", "create 1"},   {"0002_two.down.sql", "drop 2"},
    {"0002_two.up.sql", "create 2"}, {"0003_three.down.sql", "drop 3"}, {"0003_three.up.sql", "create 3"},
};

std::vector<migration> three()
{
    return *read_migrations(three_pairs);
}

std::vector<applied_migration> applied(const std::vector<migration>& known, std::size_t count)
{
    std::vector<applied_migration> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back({known[i].number, known[i].checksum, known[i].compatible_from});
    return rows;
}

// "+1 +2" for two steps up.
std::string shown(const startup_result<std::vector<migration_step>>& plan)
{
    if (plan.has_error())
        return plan.error().message;
    std::string out;
    for (const auto& step : *plan) {
        out += out.empty() ? "" : " ";
        out += step.way == direction::up ? "+" : "-";
        out += std::to_string(step.what->number);
    }
    return out;
}

std::string refusal(const std::vector<embedded_file>& files)
{
    const auto read = read_migrations(files);
    return read.has_error() ? read.error().message : "accepted";
}

TEST(read_migrations, makes_ordered_pairs)
{
    const auto known = three();
    ASSERT_EQ(known.size(), 3u);
    EXPECT_EQ(known[1].number, 2);
    EXPECT_EQ(known[1].name, "0002_two");
    EXPECT_EQ(known[1].up, "create 2");
    EXPECT_EQ(known[1].down, "drop 2");
}

TEST(read_migrations, checksum_is_the_sha256_of_the_up_text)
{
    const std::vector<embedded_file> files{{"0001_x.up.sql", "abc"}, {"0001_x.down.sql", "-"}};
    const auto known = read_migrations(files);
    ASSERT_TRUE(known.has_value());
    EXPECT_EQ(known->front().checksum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

std::string compatibility_in(std::string_view up)
{
    const std::vector<embedded_file> files{
        {"0001_x.up.sql", "a"}, {"0001_x.down.sql", "b"}, {"0002_y.up.sql", up}, {"0002_y.down.sql", "b"}};
    const auto known = read_migrations(files);
    if (known.has_error())
        return known.error().message;
    const auto& from = known->back().compatible_from;
    return from ? std::to_string(*from) : "none";
}

TEST(read_migrations, the_leading_comment_says_which_servers_a_migration_works_with)
{
    EXPECT_EQ(compatibility_in("-- Why.\n--\n-- compatible with servers from schema 1\nCREATE"), "1");
    EXPECT_EQ(compatibility_in("-- compatible with servers from schema 1"), "1");
    EXPECT_EQ(compatibility_in("-- Why.\nCREATE"), "none");
    EXPECT_EQ(compatibility_in("CREATE;\n-- compatible with servers from schema 1\n"), "none");
    for (const std::string number : {"2", "0", "x", "1 or so", ""}) {
        const auto line = "-- compatible with servers from schema " + number;
        EXPECT_EQ(compatibility_in(line), "migration 0002_y must name an earlier one in \"" + line + '"');
    }
}

TEST(read_migrations, none_is_a_valid_number_of_migrations)
{
    EXPECT_EQ(refusal({}), "accepted");
}

TEST(read_migrations, refuses_half_a_pair)
{
    EXPECT_EQ(refusal({{"0001_x.up.sql", "a"}}), "migration 0001_x has no .down.sql");
    EXPECT_EQ(refusal({{"0001_x.down.sql", "a"}}), "migration 0001_x has no .up.sql");
}

TEST(read_migrations, refuses_gaps)
{
    EXPECT_EQ(refusal({{"0002_x.up.sql", "a"}, {"0002_x.down.sql", "b"}}),
              "migration 1 is missing before 0002_x");
}

TEST(read_migrations, refuses_two_migrations_with_one_number)
{
    EXPECT_EQ(refusal({{"0001_x.up.sql", "a"}, {"0001_x.down.sql", "b"}, {"0001_y.up.sql", "c"}}),
              "migrations 0001_x and 0001_y have the same number");
}

TEST(read_migrations, refuses_other_names)
{
    for (const auto* name :
         {"x.up.sql", "1_x.up.sql", "0001x.up.sql", "0001_.up.sql", "0000_x.up.sql", "00a1_x.up.sql",
          "-001_x.up.sql", "0001_x.sql", "0001_x", "", ".up.sql", "sql"}) {
        EXPECT_EQ(refusal({{name, "a"}}),
                  "sql/" + std::string(name) + " is not named NNNN_name.up.sql or NNNN_name.down.sql");
    }
}

TEST(read_migrations, accepts_the_files_of_this_binary)
{
    const auto known = read_migrations(embedded_sql());
    ASSERT_TRUE(known.has_value()) << known.error().message;
    EXPECT_GE(known->size(), 6u);
}

// Rolling upgrades: a server of the version before can be restarted on the new schema.
TEST(read_migrations, every_migration_after_the_first_release_works_with_the_servers_before_it)
{
    constexpr int first_release = 7;
    for (const auto& each : *read_migrations(embedded_sql()))
        EXPECT_TRUE(each.number <= first_release || each.compatible_from) << each.name;
}

TEST(plan_migration, brings_an_empty_database_to_the_newest)
{
    const auto known = three();
    EXPECT_EQ(shown(plan_migration(known, {}, std::nullopt)), "+1 +2 +3");
}

TEST(plan_migration, does_nothing_when_all_is_applied)
{
    const auto known = three();
    EXPECT_EQ(shown(plan_migration(known, applied(known, 3), std::nullopt)), "");
}

TEST(plan_migration, goes_to_the_target_in_either_direction)
{
    const auto known = three();
    EXPECT_EQ(shown(plan_migration(known, applied(known, 1), 2)), "+2");
    EXPECT_EQ(shown(plan_migration(known, applied(known, 3), 1)), "-3 -2");
    EXPECT_EQ(shown(plan_migration(known, applied(known, 2), 0)), "-2 -1");
    EXPECT_EQ(shown(plan_migration(known, applied(known, 2), 2)), "");
}

TEST(plan_migration, does_not_mind_the_order_of_the_rows)
{
    const auto known = three();
    auto rows = applied(known, 3);
    std::swap(rows[0], rows[2]);
    EXPECT_EQ(shown(plan_migration(known, rows, 2)), "-3");
}

TEST(plan_migration, refuses_a_target_that_does_not_exist)
{
    const auto known = three();
    EXPECT_EQ(shown(plan_migration(known, {}, 4)),
              "there is no migration 4; the target can be 0 (nothing) to 3");
    EXPECT_EQ(shown(plan_migration(known, {}, -1)),
              "there is no migration -1; the target can be 0 (nothing) to 3");
}

TEST(plan_migration, refuses_an_edited_migration)
{
    const auto known = three();
    auto rows = applied(known, 3);
    rows[1].checksum[0] ^= 1;
    EXPECT_EQ(shown(plan_migration(known, rows, std::nullopt)),
              "migration 0002_two was changed after it had been applied to this database; "
              "put the change into a new migration");
}

TEST(plan_migration, refuses_a_database_that_is_newer)
{
    const auto known = three();
    auto rows = applied(known, 3);
    rows.push_back({4, "from the future", std::nullopt});
    EXPECT_EQ(shown(plan_migration(known, rows, 1)),
              "the database is at migration 4 and this program knows only 3: it is older than the database");
}

TEST(plan_migration, a_newer_database_is_left_alone_when_every_newer_migration_works_with_this_program)
{
    const auto known = three();
    auto rows = applied(known, 3);
    rows.push_back({4, "from the future", 3});
    rows.push_back({5, "from the future", 2});
    EXPECT_EQ(shown(plan_migration(known, rows, std::nullopt)), "");
    rows.push_back({6, "from the future", 4});
    EXPECT_EQ(shown(plan_migration(known, rows, std::nullopt)),
              "the database is at migration 6 and this program knows only 3: it is older than the database");
}

TEST(plan_migration, a_newer_database_is_not_brought_to_a_target)
{
    const auto known = three();
    auto rows = applied(known, 3);
    rows.push_back({4, "from the future", 1});
    for (const int target : {1, 3})
        EXPECT_EQ(shown(plan_migration(known, rows, target)),
                  "the database has migrations that this program does not know: migrate it with a newer one");
}

TEST(plan_migration, refuses_a_history_with_a_gap)
{
    const auto known = three();
    auto rows = applied(known, 3);
    rows.erase(rows.begin() + 1);
    EXPECT_EQ(shown(plan_migration(known, rows, std::nullopt)),
              "schema_migrations has number 3 but not 2: somebody changed that table by hand");
}

}  // namespace
}  // namespace restante
