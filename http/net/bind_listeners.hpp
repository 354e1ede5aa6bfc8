#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/host_port.hpp"
#include "core/startup_failure.hpp"

#include <span>
#include <vector>

namespace restante {

// Opens one address once for each executor, all on the same port (SO_REUSEPORT), so that the kernel spreads
// connections over the shards and no shard waits for another. Port 0 becomes a free port, the same for all.
//
// The error names the address, the reason and the flag to change. A port that another process listens on is
// an error even if that process allows sharing: half of the connections would go there.
startup_result<std::vector<tcp_acceptor>> bind_listeners(const host_port& address, const char* flag,
                                                         std::span<const executor> executors);

// "127.0.0.1:8080", "[::1]:8080".
std::string to_string(const tcp::endpoint& endpoint);

}  // namespace restante
