#include "http/session/host_check.hpp"

#include "core/log.hpp"

namespace restante {

bool host_check::admits(const request_header& head, clock::time_point now)
{
    const auto host = requested_host(head);
    if (policy_.serves(host))
        return true;
    if (now >= next_line_) {
        next_line_ = now + std::chrono::minutes(1);
        log_line(log_level::warn, "host_not_allowed")
            .field("host", host)
            .field("reason",
                   "this listener does not serve that Host; if a proxy sends it, name it with "
                   "--allowed-host or let the proxy send localhost");
    }
    return false;
}

}  // namespace restante
