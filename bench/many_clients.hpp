#pragma once

#include "bench/scenarios.hpp"

#include <memory>
#include <vector>

namespace restante::bench {

// Thousands of connections from several loopback addresses, all open at once.
using client_list = std::vector<std::unique_ptr<client>>;

// The buffer of each, small because there are so many. A poll's answer of one row fits.
inline constexpr std::size_t small_buffer = 4 * 1024;

// Opens a few at a time, so that no handshake waits for thousands of others. Each sends one request, because
// the server closes connections that never send any. Records how long both took together. Throws failure if
// one cannot be opened or if the limit on open files is too low.
awaitable<client_list> open_many(const scenario_context& context, const target& server, std::size_t count,
                                 histogram& took);

// The value of an unlabelled gauge in the server's metrics. Throws failure without --metrics.
awaitable<double> read_gauge(const scenario_context& context, std::string_view name);

}  // namespace restante::bench
