#pragma once

#include <boost/asio/ip/address.hpp>

namespace restante {

enum class address_class {
    global,     // of the public internet
    loopback,   // this machine
    private_,   // 10/8, 172.16/12, 192.168/16, fd00::/8
    forbidden,  // never a server: link-local, shared, documentation, metadata, multicast, reserved …
};

// An address that carries an IPv4 address inside (mapped, NAT64, 6to4) belongs to the class of that address,
// because that is where a connection may end up.
address_class classify(const boost::asio::ip::address& address) noexcept;

// What may be connected to besides the public internet.
struct address_policy {
    bool loopback = false;
    bool private_ = false;

    bool allows(const boost::asio::ip::address& address) const noexcept;
};

}  // namespace restante
