#pragma once

#include "http/message/public_errors.hpp"
#include "http/message/request_target.hpp"
#include "storage/upload_events.hpp"

#include <chrono>

namespace restante {

// What GET /workspaces/{id}/uploads/{file_id} asks for.
struct receipt_request {
    std::chrono::seconds wait{0};              // how long to hold the answer
    upload_state until = upload_state::acked;  // … while the file has not come so far

    // A file that has ended will not come any further, however it ended.
    bool is_met_by(upload_state state) const { return progress_of(state) >= progress_of(until); }
};

answerable<receipt_request> read_receipt_query(const query_params& query);

}  // namespace restante
