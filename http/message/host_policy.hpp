#pragma once

#include "http/message/request_gate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restante {

// Which Host a listener answers to. The owner of a domain can let its name resolve to 127.0.0.1 (DNS
// rebinding); to the browser its page then has the same origin as a server on that address, and may read
// whatever that server answers without a token. Only the Host tells: it is still the page's own name.
class host_policy {
public:
    // For a loopback listener: `localhost`, loopback addresses, and these names, which have no port. `*`
    // serves every Host.
    static host_policy on_loopback(std::vector<std::string> names);

    // For a listener on another address: every Host as long as no name is given; otherwise these names,
    // `localhost`, and every address, because health checks use it and it cannot be rebound.
    static host_policy elsewhere(std::vector<std::string> names);

    // With or without a port. Empty, as HTTP/1.0 allows, is served: no browser sends that.
    bool serves(std::string_view host_and_port) const;

private:
    host_policy(std::vector<std::string> names, bool any, bool any_address);

    std::vector<std::string> names_;
    bool any_;
    bool any_address_;
};

// The Host field, or the host in an absolute target when there is none; empty when there is neither.
std::string_view requested_host(const request_header& head) noexcept;

}  // namespace restante
