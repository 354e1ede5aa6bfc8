#pragma once

#include "server/api/common/peer_access.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace restante {

class activity_feed;
class authenticator;
class bearer_access;
class chat_history;
class cors_policy;
class hub;
class inbox_cursors;
class parked_polls;
class presence_notes;
class staging;
class task_group;
struct push_services;

// What the handlers of the feed work with.
struct inbox_services {
    bearer_access& access;
    authenticator& auth;
    activity_feed& feed;
    chat_history& chat;
    staging& stage;
    std::chrono::microseconds message_lifetime;  // how long the id of a message is remembered
    inbox_cursors& cursors;
    parked_polls& polls;
    presence_notes& presence;  // a poll is a sign of life
    hub& events;
    const cors_policy& cors;
    peer_talk peers;
    push_services& push;
    std::string public_url;  // where clients reach this server; empty: as the request says
    task_group& requests;    // its stop_callback ends waiting requests when the server stops
};

}  // namespace restante
