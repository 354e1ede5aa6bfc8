#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "server/events/hub.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace restante {

class connection;
class activity_feed;
class authenticator;

struct event_stream_start {
    uuid workspace{};
    std::optional<std::int64_t> after;     // Last-Event-ID: what follows it is read from the database first
    std::shared_ptr<subscriber> listener;  // admitted if there is such an id, else subscribed
};

struct event_stream_services {
    hub& events;
    activity_feed& feed;
    authenticator& auth;
    task_group& requests;
};

// Sends the events of one workspace as Server-Sent Events, after the head of the answer, each once and by
// rising seq, until either side ends it: the client disconnected, reads too slowly (connection::write), fell
// behind, lost its token, or the server stops. A client that reconnects with the last id it received misses
// nothing.
awaitable<void> run_event_stream(connection& conn, event_stream_start start, event_stream_services with);

}  // namespace restante
