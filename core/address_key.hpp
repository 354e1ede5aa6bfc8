#pragma once

#include <boost/asio/ip/address.hpp>

#include <array>

namespace restante {

// What counts as one source of connections or failed logins: an IPv4 address, or an IPv6 /64, among whose
// addresses a client can choose freely.
using address_key = std::array<unsigned char, 16>;

address_key key_of(const boost::asio::ip::address& address);

}  // namespace restante
