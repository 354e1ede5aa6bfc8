#pragma once

#include "bench/scenarios.hpp"

#include <memory>
#include <vector>

namespace restante::bench {

// Some thousand connections from several loopback addresses, all open at once.
using client_list = std::vector<std::unique_ptr<client>>;

// Small, because there are so many of them; a poll's answer of one row fits.
inline constexpr std::size_t small_buffer = 4 * 1024;

// Opened some at a time, so that no handshake has to wait for thousands of others, and asked once, because a
// server closes connections that say nothing. How long each of that took is recorded. Throws failure if one
// cannot be opened; where the limit on open files is too low, the sentence says so.
awaitable<client_list> open_many(const surroundings& world, const target& server, std::size_t count,
                                 histogram& took);

// The value of an unlabelled gauge of the server's metrics. Throws failure without --metrics.
awaitable<double> read_gauge(const surroundings& world, std::string_view name);

}  // namespace restante::bench
