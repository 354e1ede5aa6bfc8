#pragma once

#include "core/error.hpp"
#include "http/message/request_gate.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// What a client offers in Sec-WebSocket-Protocol. `restante.v1` and `molecule-ws` name the format of events,
// which is one; the first that is offered is echoed. A browser can't set Authorization on a WebSocket, so it
// may put its token there, as `bearer.<token>` or `molecule-auth.<hex of the token>`; that is never echoed.
struct protocol_offer {
    std::string_view format = {};  // to be echoed; empty when neither is offered
    bool has_token = false;
    std::string token = {};  // empty when it is unusable: empty, too long, bad hex, or given twice
};
protocol_offer read_protocol_offer(const request_header& head);

// Why a request is no WebSocket handshake (RFC 6455, 4.2.1): upgrade_required when it asks for none or for
// another version, bad_request when it is a broken one.
std::optional<errc> refuse_handshake(const request_header& head);

}  // namespace restante
