#pragma once

#include <cstdint>
#include <string_view>

namespace restante::bench {

// As much of an answer as a load tool has to know.
struct answer {
    unsigned status = 0;
    std::uint64_t length = 0;  // of the body
    std::string_view body;     // valid until the next answer is read; empty if it was too long to be kept

    bool ok() const { return status >= 200 && status < 300; }
};

struct answer_head {
    unsigned status = 0;
    std::uint64_t length = 0;
    std::size_t size = 0;  // with the empty line; 0 while that has not come yet
    bool valid = true;
};

// Finds the status and Content-Length and looks at nothing else; the server under load is ours, and a full
// parser would take time from it on the same cores. Not valid: no HTTP, or no Content-Length.
answer_head read_head(std::string_view received);

// The text of a JSON member whose value is a plain string, wherever it stands first; empty if there is none.
std::string_view text_member(std::string_view json, std::string_view name);

}  // namespace restante::bench
