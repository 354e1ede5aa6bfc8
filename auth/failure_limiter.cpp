#include "auth/failure_limiter.hpp"

#include <algorithm>

namespace restante {

bool failure_limiter::note(const boost::asio::ip::address& from, clock::time_point now)
{
    const auto where = place_of(from);
    const auto* before = places_.find(where, now);
    history past = before ? *before : history{};
    auto& oldest = past.moments[past.count % allowed];
    const bool too_many = past.count >= allowed && now - oldest < window;
    oldest = now;
    ++past.count;
    places_.put(where, past, now);
    return too_many;
}

failure_limiter::place failure_limiter::place_of(const boost::asio::ip::address& address)
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
