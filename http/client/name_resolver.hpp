#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <boost/asio/ip/address.hpp>

#include <stop_token>
#include <string>
#include <vector>

namespace restante {

// Turns a DNS name into addresses.
class name_resolver {
public:
    using time_point = std::chrono::steady_clock::time_point;

    virtual ~name_resolver() = default;

    // At least one address. Errors: name_not_found, late; cancelled once a stop was requested.
    virtual awaitable<result<std::vector<asio::ip::address>>> resolve(std::string name, time_point until,
                                                                      std::stop_token stop) = 0;
};

// The system's resolver, on threads of its own.
class system_resolver final : public name_resolver {
public:
    awaitable<result<std::vector<asio::ip::address>>> resolve(std::string name, time_point until,
                                                              std::stop_token stop) override;
};

}  // namespace restante
