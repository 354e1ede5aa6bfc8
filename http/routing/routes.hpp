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

// any_token: any live token, or the admin's; the handler decides what each may see. A WebSocket may send it
// as a sub-protocol.
enum class scope { open, workspace, any_token, admin, registration };
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
    uuid token{};                   // {token_id}
};

// Finds the route for a decoded path. The most literal pattern wins, compared from the left, whatever its
// method: `/pending-uploads/ack` is never a file id. HEAD finds the route of GET; OPTIONS is answered for
// every known path (and for `*`) with target null and no refusal. Allocates nothing.
//
// Refusals: method_not_implemented (a method RFC 9110 doesn't know), unknown_path, method_not_allowed
// (`allowed` says which are), invalid_workspace_id, invalid_file_id, bad_request (a token id that is no
// UUID).
route_match match_route(std::span<const route> table, std::string_view method,
                        std::string_view path) noexcept;

}  // namespace restante
