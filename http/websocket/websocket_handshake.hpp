#pragma once

#include "core/error.hpp"
#include "http/message/request_gate.hpp"

#include <optional>
#include <string_view>

namespace restante {

// The sub-protocol that is echoed. It names the format of events, not the subscriber.
inline constexpr const char* event_protocol = "restante.v1";

// What a client offers in Sec-WebSocket-Protocol. A browser can't set Authorization on a WebSocket, so it may
// put its token there, as `bearer.<token>`; that one is never echoed.
struct protocol_offer {
    bool event_protocol = false;
    bool has_token = false;
    std::string_view token = {};  // into the head; empty when it is unusable: empty, too long, or given twice
};
protocol_offer read_protocol_offer(const request_header& head);

// Why a request is no WebSocket handshake (RFC 6455, 4.2.1): upgrade_required when it asks for none or for
// another version, bad_request when it is a broken one.
std::optional<errc> refuse_handshake(const request_header& head);

}  // namespace restante
