#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "http/message/method_set.hpp"
#include "http/routing/route_pattern.hpp"

#include <boost/beast/http/verb.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace restante {

class request_context;
struct response;

// Every handler has this shape once its services are bound: caller → request → work → answer. Foreseeable
// failures are answers (request_context::fail); an exception is a bug and becomes a 500 in the session.
using request_handler = std::function<awaitable<response>(request_context&)>;

// What a route asks of its caller. Which tokens have it is decided in server/api/common/access_rules.
enum class scope {
    open,          // nothing
    registration,  // the workspace stands in the body, where only the handler sees it
    heartbeat,     // the same, from agents that come back every half minute
    peer,          // the workspace stands in a header
    profile,       // one workspace looks at another; strangers learn only whether it was removed
    full,          // what the workspace itself does
    read,          // looks at what waits for the workspace
    message,       // sends it words
    upload,        // sends it files, or asks what became of them
    events,        // hears live events; which ones depends on the listener
    any_token,     // the same where no workspace is named; a WebSocket may send its token as a sub-protocol
    admin,
};
enum class body_mode { none, buffered, streamed };

// One line of the API.
struct route {
    boost::beast::http::verb verb;
    route_pattern pattern;
    scope who;
    body_mode body;
    std::uint64_t body_cap;
    request_handler handler;
};

struct route_match {
    std::optional<errc> refusal;
    const route* target = nullptr;  // null when refused, and for OPTIONS
    method_set allowed;             // of the path, whenever the path is known
    uuid workspace{};               // {id}
    uuid file{};                    // {file_id}
    uuid token{};                   // {token_id}, {grant_id}: a grant is a token
};

// Finds the route for a decoded path. The most literal pattern wins, compared from the left, whatever its
// method: `/pending-uploads/ack` is never a file id. HEAD finds the route of GET; OPTIONS is answered for
// every known path (and for `*`) with target null and no refusal. Allocates nothing.
//
// Refusals: method_not_implemented (a method RFC 9110 doesn't know), no_such_route, method_not_allowed
// (`allowed` says which are), invalid_workspace_id, invalid_file_id, bad_request (a token id that is no
// UUID).
route_match match_route(std::span<const route> table, std::string_view method,
                        std::string_view path) noexcept;

}  // namespace restante
