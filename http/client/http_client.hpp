#pragma once

#include "http/client/client_exchange.hpp"
#include "http/client/dialer.hpp"
#include "http/client/idle_connections.hpp"

namespace restante {

// Sends HTTP/1.1 requests for one shard, over connections that are kept for the next request to the same
// place. Redirects are answers like any other: nothing follows them.
class http_client {
public:
    http_client(executor ex, dial_options options) : executor_(ex), options_(std::move(options)), idle_(ex) {}

    // One request and its answer. The client outlives it.
    std::unique_ptr<client_exchange> begin(const client_limits& limits)
    {
        return std::make_unique<client_exchange>(executor_, options_, idle_, limits);
    }

    // Closes idle connections, now and from now on.
    void stop() { idle_.stop(); }

private:
    executor executor_;
    dial_options options_;
    idle_connections idle_;
};

}  // namespace restante
