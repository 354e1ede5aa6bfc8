#pragma once

#include "http/message/public_errors.hpp"
#include "http/message/request_target.hpp"
#include "storage/activity_feed.hpp"

#include <boost/system/result.hpp>

namespace restante {

// What GET /workspaces/{id}/activity asks for.
struct activity_request {
    feed_query feed;
    std::chrono::seconds wait{0};  // how long to hold the answer while there is no row
};

// Reads the query parameters. One that is there but empty counts as absent. Refusals are bad_request with a
// sentence that names the parameter; `limit` is never refused: anything but a positive number means the
// default.
boost::system::result<activity_request, refusal> read_activity_query(const uuid& workspace,
                                                                     const query_params& query);

}  // namespace restante
