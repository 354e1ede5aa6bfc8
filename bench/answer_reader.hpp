#pragma once

#include <cstdint>
#include <string_view>

namespace restante::bench {

// The parts of an HTTP response that the load tool needs.
struct answer {
    unsigned status = 0;
    std::uint64_t length = 0;  // of the body
    std::string_view body;     // valid until the next answer is read; empty if it did not fit into the buffer

    bool ok() const { return status >= 200 && status < 300; }
};

struct answer_head {
    unsigned status = 0;
    std::uint64_t length = 0;
    std::size_t size = 0;  // including the empty line; 0 until that has arrived
    bool valid = true;
};

// Reads only the status and Content-Length. The server under load is ours, and a full parser would compete
// with it for the same cores. Not valid: not HTTP, or no Content-Length.
answer_head read_head(std::string_view received);

// The value of the first JSON member of this name that is a plain string, at any depth; empty if there is
// none.
std::string_view text_member(std::string_view json, std::string_view name);

}  // namespace restante::bench
