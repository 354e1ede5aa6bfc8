#include "http/net/stranger_table.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace restante {
namespace {

struct fake_connection final : stranger_table::entry {
    bool evict() override
    {
        gone = !working;
        return gone;
    }
    bool working = false;
    bool gone = false;
};

class stranger_table_test : public ::testing::Test {
protected:
    fake_connection& come_from(const std::string& address, bool working = false)
    {
        auto& made = connections.emplace_back();
        made.working = working;
        admitted = table.add(made, boost::asio::ip::make_address(address));
        return made;
    }

    stranger_table table{3};
    std::deque<fake_connection> connections;
    bool admitted = false;

    ~stranger_table_test() override
    {
        for (auto& each : connections)
            table.remove(each);
    }
};

TEST_F(stranger_table_test, beyond_the_limit_the_oldest_of_the_address_goes)
{
    auto& first = come_from("192.0.2.1");
    auto& second = come_from("192.0.2.1");
    come_from("192.0.2.1");
    auto& other = come_from("192.0.2.2");
    EXPECT_FALSE(first.gone);
    come_from("192.0.2.1");
    EXPECT_TRUE(admitted);
    EXPECT_TRUE(first.gone);
    EXPECT_FALSE(second.gone);
    EXPECT_FALSE(other.gone);
    EXPECT_EQ(table.size(), 4u);
    EXPECT_EQ(table.evicted(), 1u);
}

TEST_F(stranger_table_test, is_refused_when_all_of_its_address_are_at_work)
{
    for (int i = 0; i < 3; ++i)
        come_from("192.0.2.1", true);
    come_from("192.0.2.1");
    EXPECT_FALSE(admitted);
    EXPECT_EQ(table.refused(), 1u);
    come_from("192.0.2.2");
    EXPECT_TRUE(admitted);
}

TEST_F(stranger_table_test, whoever_is_known_no_longer_counts)
{
    auto& known = come_from("192.0.2.1");
    table.remove(known);
    table.remove(known);
    for (int i = 0; i < 4; ++i)
        come_from("192.0.2.1");
    EXPECT_FALSE(known.gone);
    EXPECT_EQ(table.size(), 3u);
}

TEST_F(stranger_table_test, a_64_of_ipv6_is_one_address_and_a_mapped_one_is_ipv4)
{
    auto& first = come_from("2001:db8::1");
    come_from("2001:db8::2");
    come_from("2001:db8::ffff:1");
    come_from("2001:db8:0:1::1");
    EXPECT_FALSE(first.gone);
    come_from("2001:db8::3");
    EXPECT_TRUE(first.gone);

    auto& mapped = come_from("::ffff:192.0.2.1");
    for (int i = 0; i < 3; ++i)
        come_from("192.0.2.1");
    EXPECT_TRUE(mapped.gone);
}

TEST_F(stranger_table_test, loopback_has_no_limit_of_its_own)
{
    for (int i = 0; i < 100; ++i)
        come_from(i % 2 ? "127.0.0.1" : "::1");
    EXPECT_EQ(table.size(), 100u);
}

TEST_F(stranger_table_test, room_is_made_where_there_are_most)
{
    auto& few = come_from("192.0.2.2");
    come_from("192.0.2.1", true);
    auto& idle = come_from("192.0.2.1");
    come_from("192.0.2.1");
    EXPECT_TRUE(table.make_room());
    EXPECT_TRUE(idle.gone);
    EXPECT_FALSE(few.gone);
    EXPECT_TRUE(table.make_room());  // the other idle one
    EXPECT_TRUE(table.make_room());  // of the address that has one
    EXPECT_TRUE(few.gone);
    EXPECT_FALSE(table.make_room());
    EXPECT_EQ(table.size(), 1u);
}

}  // namespace
}  // namespace restante
