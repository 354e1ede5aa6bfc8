#include "http/client/address_policy.hpp"

#include <gtest/gtest.h>

namespace restante::test {
namespace {

struct row {
    const char* address;
    address_class what;
};

using enum address_class;

// The first and the last of every net, and the neighbours that are outside.
const row rows[] = {
    {"0.0.0.0", forbidden},
    {"0.255.255.255", forbidden},
    {"1.0.0.0", global},
    {"9.255.255.255", global},
    {"10.0.0.0", private_},
    {"10.255.255.255", private_},
    {"11.0.0.0", global},
    {"100.63.255.255", global},
    {"100.64.0.0", forbidden},
    {"100.127.255.255", forbidden},
    {"100.128.0.0", global},
    {"126.255.255.255", global},
    {"127.0.0.0", loopback},
    {"127.0.0.1", loopback},
    {"127.255.255.255", loopback},
    {"128.0.0.0", global},
    {"168.63.129.15", global},
    {"168.63.129.16", forbidden},
    {"168.63.129.17", global},
    {"169.253.255.255", global},
    {"169.254.0.0", forbidden},
    {"169.254.169.254", forbidden},
    {"169.254.255.255", forbidden},
    {"169.255.0.0", global},
    {"172.15.255.255", global},
    {"172.16.0.0", private_},
    {"172.31.255.255", private_},
    {"172.32.0.0", global},
    {"192.0.0.8", forbidden},
    {"192.0.1.0", global},
    {"192.0.2.0", forbidden},
    {"192.0.2.255", forbidden},
    {"192.0.3.0", global},
    {"192.88.99.1", forbidden},
    {"192.167.255.255", global},
    {"192.168.0.0", private_},
    {"192.168.255.255", private_},
    {"192.169.0.0", global},
    {"198.17.255.255", global},
    {"198.18.0.0", forbidden},
    {"198.19.255.255", forbidden},
    {"198.20.0.0", global},
    {"198.51.100.7", forbidden},
    {"203.0.113.7", forbidden},
    {"203.0.114.0", global},
    {"223.255.255.255", global},
    {"224.0.0.1", forbidden},
    {"239.255.255.255", forbidden},
    {"240.0.0.1", forbidden},
    {"255.255.255.255", forbidden},

    {"::", forbidden},
    {"::1", loopback},
    {"::2", forbidden},
    {"fe80::1", forbidden},
    {"febf::1", forbidden},
    {"fec0::1", forbidden},
    {"fc00::1", forbidden},
    {"fcff::1", forbidden},
    {"fd00::1", private_},
    {"fdff:ffff::1", private_},
    {"fd00:42::42", forbidden},
    {"fd00:42:0:1::42", private_},
    {"fd00:c1::a9fe:a9fe", forbidden},
    {"fd00:ec1::254", private_},
    {"fd00:ec2::23", forbidden},
    {"fd00:ec2::254", forbidden},
    {"fd00:ec2:0:1::254", private_},
    {"fd00:ec3::254", private_},
    {"fd20:ce::254", forbidden},
    {"fd20:cf::254", private_},
    {"fe00::1", forbidden},
    {"ff02::1", forbidden},
    {"2001:db8::1", forbidden},
    {"2001:db7:ffff::1", global},
    {"2001:db9::1", global},
    {"2001::1", forbidden},     // Teredo
    {"2001:20::1", forbidden},  // ORCHID
    {"2001:1ff::1", forbidden},
    {"2001:200::1", global},
    {"2606:4700::1111", global},
    {"3fff::1", forbidden},
    {"3fff:fff::1", forbidden},
    {"3fff:1000::1", global},
    {"100::1", forbidden},
    {"4000::1", forbidden},
    {"1fff::1", forbidden},

    // IPv4 inside IPv6
    {"::ffff:8.8.8.8", global},
    {"::ffff:127.0.0.1", loopback},
    {"::ffff:10.1.2.3", private_},
    {"::ffff:169.254.169.254", forbidden},
    {"::ffff:0.0.0.0", forbidden},
    {"::ffff:168.63.129.16", forbidden},
    {"::ffff:100.64.0.1", forbidden},
    {"::ffff:192.0.2.1", forbidden},
    {"::127.0.0.1", forbidden},  // compatible forms lead nowhere honest
    {"::10.0.0.1", forbidden},
    {"::8.8.8.8", forbidden},
    {"64:ff9b::8.8.8.8", global},
    {"64:ff9b::127.0.0.1", loopback},
    {"64:ff9b::10.0.0.1", private_},
    {"64:ff9b::169.254.169.254", forbidden},
    {"64:ff9b:1::1", forbidden},
    {"2002:0808:0808::1", global},
    {"2002:7f00:0001::1", loopback},
    {"2002:0a00:0001::1", private_},
    {"2002:a9fe:a9fe::1", forbidden},
    {"2002:c0a8:0101::1", private_},
};

TEST(address_policy, puts_every_address_into_its_class)
{
    for (const auto& each : rows)
        EXPECT_EQ(classify(boost::asio::ip::make_address(each.address)), each.what) << each.address;
}

TEST(address_policy, allows_what_was_chosen_and_nothing_forbidden)
{
    for (const bool with_loopback : {false, true}) {
        for (const bool with_private : {false, true}) {
            const address_policy policy{.loopback = with_loopback, .private_ = with_private};
            for (const auto& each : rows) {
                const bool expected = each.what == global || (each.what == loopback && with_loopback) ||
                                      (each.what == private_ && with_private);
                EXPECT_EQ(policy.allows(boost::asio::ip::make_address(each.address)), expected)
                    << each.address;
            }
        }
    }
}

}  // namespace
}  // namespace restante::test
