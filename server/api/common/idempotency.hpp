#pragma once

#include "http/message/public_errors.hpp"
#include "http/session/request_context.hpp"

#include <optional>
#include <string>

namespace restante {

// The Idempotency-Key of a request, if it has one. Refusal: bad_request.
answerable<std::optional<std::string>> read_idempotency_key(const request_context& req);

// Marks an answer that was given before under the same key.
void mark_as_replay(response& answer);

// What a failed write means to the client: whether it is stored is said where it is known.
refusal refusal_of_write(const error_code& ec);

}  // namespace restante
