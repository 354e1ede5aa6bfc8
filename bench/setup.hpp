#pragma once

#include "bench/client.hpp"
#include "bench/requests.hpp"
#include "bench/scenarios.hpp"

#include <functional>

namespace restante::bench {

// What has to be there before anything can be measured. All of it throws failure, with a sentence.

// Opens, or says who could not be reached.
awaitable<void> open_or_fail(client& link, const target& server, const asio::ip::address& from = {});

// The answer, or what the server said instead of a success.
awaitable<answer> demand(client& link, std::string_view request);

// Calls each(link, 0) … each(link, count - 1), shared out among some connections.
using step = std::function<awaitable<void>(client& link, std::size_t index)>;
awaitable<void> share_out(const target& server, unsigned connections, std::size_t count, step each);

awaitable<std::vector<workspace>> register_workspaces(const surroundings& world, std::size_t count);

// Uploads one file and returns its id.
awaitable<std::string> stage_file(client& link, const workspace& to, std::uint64_t bytes);

// 127.0.0.1, 127.0.0.2, …: each source address has ephemeral ports of its own.
asio::ip::address source_address(const surroundings& world, std::size_t index);

// "10KiB" or "10240".
std::uint64_t read_size(const std::string& argument);
std::string size_in_words(std::uint64_t bytes);  // 10 KiB, 26 MB
std::size_t read_count(const std::string& argument);

// A timeout, a refusal and a lost connection in words.
std::string in_words(const error_code& ec);
std::string in_words(const answer& got);

}  // namespace restante::bench
