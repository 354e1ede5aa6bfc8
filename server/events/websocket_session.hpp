#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "http/message/request_gate.hpp"
#include "server/events/subscriber.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace restante {

class connection;

struct websocket_welcome {
    std::string request_id;
    std::string_view format;  // of events, by the name that the client offered; empty for none
};

// Answers a checked handshake and sends events until either side ends it. What the client sends is read and
// discarded, except that a frame which RFC 6455 forbids ends the connection with the code it names. The
// server closes with 1013 when the client falls behind, 1008 when its token is no longer valid, 1001 when the
// group is asked to stop, and without a close frame when it takes no bytes for 10 s or answers no ping for a
// minute.
//
// Nothing that a client does is a failure: it throws only when it is cancelled or out of memory.
awaitable<void> run_websocket(connection& conn, const request_header& head, websocket_welcome welcome,
                              std::shared_ptr<subscriber> listener, event_metrics& metrics,
                              task_group& requests);

}  // namespace restante
