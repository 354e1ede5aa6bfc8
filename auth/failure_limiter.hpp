#pragma once

#include "auth/expiring_map.hpp"

#include <boost/asio/ip/address.hpp>

#include <array>

namespace restante {

// Rate-limits wrong tokens per source address: more than 20 in 10 s are too many. An IPv6 client can choose
// among all addresses of its /64, so a /64 counts as one source.
class failure_limiter {
public:
    static constexpr std::size_t allowed = 20;
    static constexpr auto window = std::chrono::seconds(10);
    static constexpr std::size_t max_places = 10'000;

    // Records a wrong token. True if this one exceeds the limit.
    bool note(const boost::asio::ip::address& from, clock::time_point now);

    std::size_t size() const { return places_.size(); }

private:
    using place = std::array<unsigned char, 16>;
    // The times of the last 20 failures; the oldest is overwritten next.
    struct history {
        std::array<clock::time_point, allowed> moments{};
        std::size_t count = 0;
    };
    static place place_of(const boost::asio::ip::address& address);

    expiring_map<place, history> places_{window, max_places};
};

}  // namespace restante
