#pragma once

#include "http/message/public_errors.hpp"
#include "storage/pending_uploads.hpp"

#include <boost/json/fwd.hpp>

#include <string_view>
#include <vector>

namespace restante {

// The body of an ack: none, or an object that may say the digest of what arrived, {"sha256": hex}.
answerable<file_to_ack> read_ack(const uuid& file, std::string_view body);

// {"file_ids": […]}: at most 500 ids, or objects with a `file_id` and the digest. A file that is named twice
// is acked once.
answerable<std::vector<file_to_ack>> read_ack_batch(const boost::json::value& body);

}  // namespace restante
