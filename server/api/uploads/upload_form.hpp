#pragma once

#include "http/session/request_context.hpp"
#include "server/api/uploads/form_reader.hpp"
#include "storage/staging.hpp"

#include <optional>
#include <string>

namespace restante {

// An upload's head, validated.
struct upload_head {
    multipart::boundary separator;
    std::optional<std::string> key;  // Idempotency-Key
    upload_grant grant;
};

// Content-Type, Content-Encoding, Idempotency-Key, Content-Length and what is left of a grant: all that can
// be refused before the workspace is looked up.
answerable<upload_head> check_upload_head(request_context& req, const form_limits& limits);

// The files of a form as storage wants them, each with its row for the feed.
upload make_upload(const uuid& workspace, const std::optional<used_token>& token,
                   std::vector<form_file> files, std::optional<std::string> key);

}  // namespace restante
