#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace restante::bench {

struct workspace {
    std::string id;
    std::string token;
};

// Requests as bytes, composed by Beast once and sent any number of times.
std::string registration_request(std::string_view workspace_id, std::string_view admin_token);
std::string upload_request(const workspace& to, std::uint64_t bytes, unsigned files);
std::string fetch_request(const workspace& of, std::string_view file_id);

// Everything after number `seq` of the feed; held for `wait_seconds` while there is nothing.
std::string poll_request(const workspace& of, std::uint64_t seq, unsigned wait_seconds);
std::string plain_request(std::string_view path);

}  // namespace restante::bench
