#pragma once

#include "http/message/public_errors.hpp"
#include "server/presence/presence_notes.hpp"

#include <string_view>

namespace restante {

// The body of a heartbeat, checked.
struct heartbeat_form {
    uuid workspace{};
    heartbeat beat;
    std::optional<std::string> agent_card;  // JSON text
};

// What is absent or null is zero, texts are cut at 512 bytes, numbers kept within what they can mean; a
// member of another type is refused: bad_request, and malformed_json for what is no JSON. A card that is no
// object is passed over. `id` stands for `workspace_id` where that is missing or empty; what is no UUID is
// invalid_workspace_id.
answerable<heartbeat_form> read_heartbeat(std::string_view body);

}  // namespace restante
