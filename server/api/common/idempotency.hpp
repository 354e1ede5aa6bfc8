#pragma once

#include "http/message/public_errors.hpp"
#include "http/session/request_context.hpp"

#include <optional>
#include <string>

namespace restante {

// The Idempotency-Key of a request, if it has one. Refusal: bad_request.
answerable<std::optional<std::string>> read_idempotency_key(const request_context& req);

// Marks an answer as the replay of an earlier one under the same key.
void mark_as_replay(response& answer);

// The answer to a failed write; it says whether the request is stored where that is known.
refusal refusal_of_write(const error_code& ec);

}  // namespace restante
