#pragma once

#include "client/disk.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restante::client {

// A file that is to be sent, open.
struct outgoing_file {
    std::string name;  // without directories
    std::string mime_type;
    unique_fd file;
    std::uint64_t size = 0;
};

// Opens all of them. What cannot be read twice, such as a pipe, is copied to a temporary file first, because
// a request may have to be repeated. `name` is that of `-`, or of the
// only one; empty where it is the file's own.
outcome<std::vector<outgoing_file>> open_outgoing(const std::vector<std::string>& paths,
                                                  const std::string& name);

// By the extension; empty when that says nothing.
std::string_view guess_mime_type(std::string_view name);

// What a server takes in one request unless it is told otherwise.
inline constexpr std::uint64_t usual_request_bytes = 50ull << 20;

// How the files are divided into requests: as many as fit into one, in their order. One that is larger is
// alone.
std::vector<std::size_t> batch_sizes(const std::vector<std::uint64_t>& sizes,
                                     std::uint64_t most_bytes = usual_request_bytes);

}  // namespace restante::client
