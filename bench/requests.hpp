#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace restante::bench {

struct workspace {
    std::string id;
    std::string token;
};

// Serialized requests. Each is made once and sent many times.
std::string registration_request(std::string_view workspace_id, std::string_view admin_token);
std::string upload_request(const workspace& to, std::uint64_t bytes, unsigned files);
std::string fetch_request(const workspace& of, std::string_view file_id);

// Polls for everything after number `seq` of the feed. With `wait_seconds`, a long poll.
std::string poll_request(const workspace& of, std::uint64_t seq, unsigned wait_seconds);
std::string heartbeat_request(const workspace& of);
std::string plain_request(std::string_view path);

}  // namespace restante::bench
