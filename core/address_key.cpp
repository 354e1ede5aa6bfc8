#include "core/address_key.hpp"

#include <algorithm>

namespace restante {

address_key key_of(const boost::asio::ip::address& address)
{
    if (address.is_v4())
        return boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4()).to_bytes();
    const auto v6 = address.to_v6();
    auto bytes = v6.to_bytes();
    if (!v6.is_v4_mapped())
        std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return bytes;
}

}  // namespace restante
