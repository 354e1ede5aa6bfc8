#pragma once

#include <chrono>

namespace restante {

class activity_feed;
class authenticator;
class cors_policy;
class hub;
class inbox_cursors;
class parked_polls;
class staging;
class task_group;
struct push_services;

// What the handlers of the feed work with.
struct inbox_services {
    authenticator& auth;
    activity_feed& feed;
    staging& stage;
    std::chrono::microseconds message_lifetime;  // how long the id of a message is remembered
    inbox_cursors& cursors;
    parked_polls& polls;
    hub& events;
    const cors_policy& cors;
    push_services& push;
    task_group& requests;  // its stop_callback ends waiting requests when the server stops
};

}  // namespace restante
