#pragma once

#include <chrono>

namespace restante {

class authenticator;
class callback_lookups;
class http_client;
class push_metrics;

// What the forwards to workspaces work with.
struct push_services {
    authenticator& auth;
    callback_lookups& callbacks;
    http_client& client;
    push_metrics& metrics;
    std::chrono::milliseconds limit;  // for one forward
};

}  // namespace restante
