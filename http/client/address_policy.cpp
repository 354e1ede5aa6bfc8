#include "http/client/address_policy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace restante {

namespace {

namespace ip = boost::asio::ip;
using enum address_class;

struct v4_net {
    std::uint32_t first;
    unsigned bits;
    address_class what;
};

constexpr std::uint32_t v4(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return a << 24 | b << 16 | c << 8 | d;
}

// clang-format off
constexpr v4_net v4_nets[] = {
    {v4(0, 0, 0, 0),      8,  forbidden},  // this network; 0.0.0.0 connects to this machine
    {v4(10, 0, 0, 0),     8,  private_},
    {v4(100, 64, 0, 0),   10, forbidden},  // shared by carriers' NATs
    {v4(127, 0, 0, 0),    8,  loopback},
    {v4(168, 63, 129, 16), 32, forbidden}, // Azure's platform, from inside its networks
    {v4(169, 254, 0, 0),  16, forbidden},  // link-local, and the metadata services of clouds
    {v4(172, 16, 0, 0),   12, private_},
    {v4(192, 0, 0, 0),    24, forbidden},  // protocol assignments
    {v4(192, 0, 2, 0),    24, forbidden},  // documentation
    {v4(192, 88, 99, 0),  24, forbidden},  // 6to4 relays
    {v4(192, 168, 0, 0),  16, private_},
    {v4(198, 18, 0, 0),   15, forbidden},  // benchmarks
    {v4(198, 51, 100, 0), 24, forbidden},  // documentation
    {v4(203, 0, 113, 0),  24, forbidden},  // documentation
    {v4(224, 0, 0, 0),    4,  forbidden},  // multicast
    {v4(240, 0, 0, 0),    4,  forbidden},  // reserved, broadcast
};

struct v6_net {
    std::array<std::uint8_t, 8> first;  // no prefix below is longer
    unsigned bits;
    address_class what;
};

// Inside fd00::/8: metadata services. A network that chose its prefix at random, as it should, has none of
// these.
constexpr v6_net v6_metadata_nets[] = {
    {{0xFD, 0x00, 0x00, 0x42}, 64, forbidden},  // Scaleway
    {{0xFD, 0x00, 0x00, 0xC1}, 64, forbidden},  // Oracle
    {{0xFD, 0x00, 0x0E, 0xC2}, 64, forbidden},  // AWS
    {{0xFD, 0x20, 0x00, 0xCE}, 64, forbidden},  // Google
};

// Inside 2000::/3, the only part of IPv6 that is given out.
constexpr v6_net v6_nets[] = {
    {{0x20, 0x01, 0x00},             23, forbidden},  // protocol assignments, Teredo
    {{0x20, 0x01, 0x0D, 0xB8},       32, forbidden},  // documentation
    {{0x3F, 0xFF},                   20, forbidden},  // documentation
};
// clang-format on

bool is_within(const ip::address_v6::bytes_type& address, const std::array<std::uint8_t, 8>& net,
               unsigned bits)
{
    const auto whole = bits / 8;
    if (!std::equal(net.begin(), net.begin() + whole, address.begin()))
        return false;
    const auto rest = bits % 8;
    return rest == 0 || (address[whole] ^ net[whole]) >> (8 - rest) == 0;
}

address_class classify_v4(std::uint32_t address)
{
    for (const auto& net : v4_nets)
        if ((address ^ net.first) >> (32 - net.bits) == 0)
            return net.what;
    return global;
}

address_class classify_embedded(const ip::address_v6::bytes_type& bytes, std::size_t at)
{
    return classify_v4(v4(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]));
}

address_class classify_v6(const ip::address_v6& address)
{
    if (address.is_loopback())
        return loopback;
    const auto bytes = address.to_bytes();
    if (address.is_v4_mapped())
        return classify_embedded(bytes, 12);
    constexpr std::array<std::uint8_t, 12> nat64{0x00, 0x64, 0xFF, 0x9B};
    if (std::equal(nat64.begin(), nat64.end(), bytes.begin()))
        return classify_embedded(bytes, 12);
    if (is_within(bytes, {0x20, 0x02}, 16))
        return classify_embedded(bytes, 2);
    for (const auto& net : v6_metadata_nets)
        if (is_within(bytes, net.first, net.bits))
            return net.what;
    if (is_within(bytes, {0xFD}, 8))
        return private_;
    if (!is_within(bytes, {0x20}, 3))
        return forbidden;
    for (const auto& net : v6_nets)
        if (is_within(bytes, net.first, net.bits))
            return net.what;
    return global;
}

}  // namespace

address_class classify(const ip::address& address) noexcept
{
    return address.is_v4() ? classify_v4(address.to_v4().to_uint()) : classify_v6(address.to_v6());
}

bool address_policy::allows(const ip::address& address) const noexcept
{
    switch (classify(address)) {
        case global: return true;
        case address_class::loopback: return loopback;
        case address_class::private_: return private_;
        case forbidden: break;
    }
    return false;
}

}  // namespace restante
