#pragma once

#include "core/asio.hpp"

#include <boost/asio/ip/address.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace restante {

// One question to the system's resolver, which blocks: it is asked on threads of its own from here on, so
// that several lookups run at the same time. Those for the same name share one question.
class name_lookup {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using addresses = std::vector<boost::asio::ip::address>;

    // Loopback addresses count as none that the machine has: without IPv6 to elsewhere, `reachable` leaves
    // out ::1 of localhost.
    enum class kind { all, reachable };

    name_lookup(executor home, std::string name, kind wanted);
    ~name_lookup();
    name_lookup(name_lookup&&) noexcept;
    name_lookup& operator=(name_lookup&&) = delete;

    // None if there is no such name; nothing if they do not come in time, or a stop is requested on this
    // thread. Called once.
    awaitable<std::optional<addresses>> wait_until(time_point moment, std::stop_token stop = {});

private:
    class asker;

    std::shared_ptr<asker> asker_;
};

}  // namespace restante
