#pragma once

#include "auth/expiring_map.hpp"
#include "core/address_key.hpp"

#include <array>

namespace restante {

// Rate-limits wrong tokens per source (core/address_key): more than 20 in 10 s are too many.
class failure_limiter {
public:
    static constexpr std::size_t allowed = 20;
    static constexpr auto window = std::chrono::seconds(10);
    static constexpr std::size_t max_places = 10'000;

    // Records a wrong token. True if this one exceeds the limit.
    bool note(const boost::asio::ip::address& from, clock::time_point now);

    std::size_t size() const { return places_.size(); }

private:
    // The times of the last 20 failures; the oldest is overwritten next.
    struct history {
        std::array<clock::time_point, allowed> moments{};
        std::size_t count = 0;
    };

    expiring_map<address_key, history> places_{window, max_places};
};

}  // namespace restante
