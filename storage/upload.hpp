#pragma once

#include "core/trace.hpp"
#include "storage/activity.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/token_use.hpp"
#include "storage/upload_requests.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restante {

// One request's files with what the feed is to say of each. A message is a request without files.
struct upload {
    uuid workspace;
    std::optional<used_token> token = {};  // what it came with, which must still be live when it is stored
    std::vector<new_file> files = {};
    activity_rows activities = {};
    std::shared_ptr<const std::string> answer = {};  // with a gap for the time of expiry; kept under the keys
    std::vector<request_key> keys = {};
    // When the keys of files outside of their rows were made: from there the janitor counts their age.
    std::optional<std::chrono::steady_clock::time_point> keyed_at = {};
    std::optional<trace_context> trace = {};  // of the request

    // What its rows hold: bytes of files that stay in them, and bodies.
    std::uint64_t bytes() const;
    // A message may be as large as a file.
    pq::lane lane() const;
    bool counts_on_grant() const { return token && token->is_grant; }
};

}  // namespace restante
