#pragma once

#include "auth/principal.hpp"
#include "http/message/public_errors.hpp"
#include "http/session/request_context.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// A key as it is stored for the target: shared by those who may see all that the workspace has. Every other
// sender has keys of its own, a workspace that speaks to another too, or it would learn by repeating somebody
// else's key what that one has sent.
std::string stored_key(const principal& caller, const uuid& target, std::string_view key);

// The Idempotency-Key of a request, if it has one, as it is stored. Refusal: bad_request.
answerable<std::optional<std::string>> read_idempotency_key(const request_context& req);

// Marks an answer as the replay of an earlier one under the same key.
void mark_as_replay(response& answer);

// The answer to a write that failed.
refusal refusal_of_write(const error_code& ec);

}  // namespace restante
