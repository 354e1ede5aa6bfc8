#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "storage/staging.hpp"

#include <span>
#include <string>

namespace restante {

// What the feed's row about a file carries as request_body.
std::string upload_manifest(const uuid& workspace, const new_file& file);

// The answer to an upload, with a gap for the one value that only the database knows: when the files expire.
// Stored like this under the client's key, so that a replay is identical to the first answer.
std::string upload_answer_template(const uuid& workspace, std::span<const new_file> files);
std::string fill_in_expiry(std::string_view with_gaps, timestamp expires_at);

}  // namespace restante
