#include "storage/pq/conninfo.hpp"

#include "test/support/run.hpp"

#include <gtest/gtest.h>

namespace restante::pq {
namespace {

using addresses = std::vector<server_address>;

conninfo parse(const std::string& text)
{
    std::string why;
    auto parsed = conninfo::parse(text, why);
    EXPECT_TRUE(parsed.has_value()) << why;
    return std::move(*parsed);
}

addresses resolve(const std::string& text, std::chrono::milliseconds limit = std::chrono::seconds(10))
{
    addresses found;
    test::run([&]() -> awaitable<void> {
        const auto info = parse(text);
        found = co_await info.resolve(limit);
    });
    return found;
}

TEST(conninfo, one_host_stays_one)
{
    EXPECT_EQ(parse("dbname=x").hosts(), (addresses{{"", "", ""}}));
    EXPECT_EQ(parse("host=/run/postgresql port=5433").hosts(), (addresses{{"/run/postgresql", "", "5433"}}));
    EXPECT_EQ(parse("postgresql://db:1/x").hosts(), (addresses{{"db", "", "1"}}));
    EXPECT_EQ(parse("host=db").find("target_session_attrs"), nullptr);
}

TEST(conninfo, lists_are_taken_apart_and_ask_for_the_primary)
{
    const auto url = parse("postgresql://a:1,b:2,c:3/x");
    EXPECT_EQ(url.hosts(), (addresses{{"a", "", "1"}, {"b", "", "2"}, {"c", "", "3"}}));
    EXPECT_EQ(*url.find("target_session_attrs"), "read-write");
    EXPECT_EQ(parse("host=a,b port=7").hosts(), (addresses{{"a", "", "7"}, {"b", "", "7"}}));
    EXPECT_EQ(parse("hostaddr=127.0.0.1,127.0.0.2").hosts(),
              (addresses{{"", "127.0.0.1", ""}, {"", "127.0.0.2", ""}}));
    EXPECT_EQ(*parse("host=a,b target_session_attrs=any").find("target_session_attrs"), "any");
}

TEST(conninfo, lists_of_different_lengths_are_refused)
{
    for (const std::string text : {"host=a,b port=1,2,3", "host=a,b hostaddr=127.0.0.1", "host=a port=1,2"}) {
        std::string why;
        EXPECT_EQ(conninfo::parse(text, why).error(), errc::bad_setting) << text;
        EXPECT_NE(why.find("length"), std::string::npos) << why;
    }
}

TEST(conninfo, only_names_are_resolved)
{
    EXPECT_EQ(resolve("host=/tmp,127.0.0.1 port=1,2"),
              (addresses{{"/tmp", "", "1"}, {"127.0.0.1", "", "2"}}));
    EXPECT_EQ(resolve("host=db hostaddr=127.0.0.9"), (addresses{{"db", "127.0.0.9", ""}}));
}

// The system resolves this one, which is no address as we know them, on a machine without any names.
TEST(conninfo, a_name_is_resolved_by_the_system)
{
    EXPECT_EQ(resolve("host=127.1 port=9"), (addresses{{"127.1", "127.0.0.1", "9"}}));
}

TEST(conninfo, a_name_that_does_not_exist_does_not_hide_the_others)
{
    const std::string impossible(70, 'x');  // longer than a label may be, so that no resolver is asked
    EXPECT_EQ(resolve("host=" + impossible + ",127.0.0.1"), (addresses{{"127.0.0.1", "", ""}}));
}

// A limit that is over before the resolver can answer, as with a name server that is silent.
TEST(conninfo, a_name_that_is_not_resolved_in_time_has_the_addresses_that_it_had_last)
{
    const auto found = resolve("host=localhost");
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(resolve("host=localhost", std::chrono::milliseconds(0)), found);
}

TEST(conninfo, a_selected_address_is_the_only_one_that_libpq_sees)
{
    auto info = parse("host=a,b port=1,2 dbname=x");
    info.select({"b", "127.0.0.2", "2"});
    EXPECT_EQ(*info.find("host"), "b");
    EXPECT_EQ(*info.find("hostaddr"), "127.0.0.2");
    EXPECT_EQ(*info.find("port"), "2");
}

}  // namespace
}  // namespace restante::pq
