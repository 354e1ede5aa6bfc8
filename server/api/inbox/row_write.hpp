#pragma once

#include "core/asio.hpp"
#include "core/sha256.hpp"
#include "http/message/public_errors.hpp"
#include "http/message/response.hpp"
#include "storage/activity.hpp"
#include "storage/staging.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace restante {

class request_context;
struct inbox_services;

// What the writers of single rows share: reports, messages and notices are stored with the certainty of an
// upload.

// A route whose JSON body becomes a row.
struct row_route {
    answerable<activity> (*read)(const uuid& workspace, std::string_view text,
                                 const boost::json::value& body);
    std::string_view answer;
    std::string_view not_json = {};  // the sentence for a body that is no JSON, where it has one of its own
};

// The whole of such a request: the body is read, checked and stored once, and answered.
awaitable<response> handle_row(request_context& req, inbox_services& svc, const row_route& how);

// The same key with another body, by another caller or on another route, is another request.
digest32 fingerprint_of(const request_context& req, std::string_view body);

// A row with what its client is answered once it is stored, under the client's key if it sent one.
struct row_request {
    activity row;
    std::string answer;
    std::vector<request_key> keys = {};
};

// Stores the row and answers; a repeated request gets the first answer.
awaitable<response> store_row(const request_context& req, inbox_services& svc, row_request what);

}  // namespace restante
