#pragma once

#include "bench/client.hpp"
#include "bench/requests.hpp"
#include "bench/scenarios.hpp"

#include <functional>

namespace restante::bench {

// Helpers that prepare what is measured. All of them throw failure.

// Opens the connection. The failure names the server.
awaitable<void> open_or_fail(client& link, const target& server, const asio::ip::address& from = {});

// Returns the answer if it is a success. The failure quotes what the server sent instead.
awaitable<answer> exchange_or_fail(client& link, std::string_view request);

// Calls each(link, 0) … each(link, count - 1), distributed over this many connections.
using step = std::function<awaitable<void>(client& link, std::size_t index)>;
awaitable<void> distribute(const target& server, unsigned connections, std::size_t count, step each);

awaitable<std::vector<workspace>> register_workspaces(const scenario_context& context, std::size_t count);

// Uploads one file and returns its id.
awaitable<std::string> stage_file(client& link, const workspace& to, std::uint64_t bytes);

// 127.0.0.1, 127.0.0.2, …: each source address has its own range of ephemeral ports.
asio::ip::address source_address(const scenario_context& context, std::size_t index);

// "10KiB" or "10240".
std::uint64_t read_size(const std::string& argument);
std::string describe_size(std::uint64_t bytes);  // 10 KiB, 26 MB
std::size_t read_count(const std::string& argument);

// Error messages for a failed connection and for an answer that is not a success.
std::string describe(const error_code& ec);
std::string describe(const answer& got);

}  // namespace restante::bench
