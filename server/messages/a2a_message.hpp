#pragma once

#include "core/ids.hpp"
#include "http/message/public_errors.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Who sent a message to whom, as far as its body depends on it.
struct message_route {
    uuid target{};
    bool from_canvas = false;  // a person, not another workspace
};

// A message as it is stored.
struct a2a_message {
    std::string body;  // a JSON-RPC object
    std::string method;
    std::optional<std::string> message_id;  // as its sender chose it; absent if it chose none
};

// Completes what clients leave out, so that every reader of the feed finds the same shape, whatever wrote it;
// all else stays as it was written, whichever version of A2A it is:
//   without `jsonrpc` the body becomes {"jsonrpc":"2.0","id":<new>,"method","params"};
//   `params.message` gets a `messageId` and a `role` ("user") where it has none, and instead of `content`
//   (a text, or a list) it gets `parts`;
//   a part with `type` and no `kind` has it renamed;
//   from the canvas, `params.metadata` says so, and a blank `contextId` becomes canvas-<target>.
//
// Reads the text several times and holds it twice, but never as a tree. Refusals: malformed_json (no JSON
// object), bad_request (no method; a message with neither parts nor content).
answerable<a2a_message> normalise_message(std::string_view text, const message_route& route,
                                          uuid (*make_id)() = make_uuid_v4);

}  // namespace restante
