#pragma once

#include "client/failure.hpp"

#include <string>
#include <string_view>

namespace restante::client {

// An answer of the server that is small enough to be held.
struct answer {
    unsigned status = 0;
    std::string body;
    std::string location;
    std::optional<std::chrono::milliseconds> retry_after = {};

    bool ok() const { return status >= 200 && status < 300; }
};

// The member "code" of an error, or an empty text.
std::string error_code_of(std::string_view body);

// Whether it is what acks a file: what a hotel's network says instead has the status of a success, too.
bool says_acked(const answer& from);
// A JSON object, as the server's answers to requests of its own are.
bool is_object(const answer& from);

// Of an answer that is none of Restante's, whatever its status; worth another try.
failure bad_answer(std::string text);

// What an answer other than a good one means, after `what` was tried ("polling"). Text of the server is shown
// without control characters, and cut.
failure failure_of(const answer& from, std::string_view what);

}  // namespace restante::client
