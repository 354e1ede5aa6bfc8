#pragma once

#include "core/metrics.hpp"

#include <string>

namespace restante {

class identity_notices;
class token_store;

// What the handlers of upload grants work with.
struct grants_services {
    token_store& tokens;
    const identity_notices& notices;
    std::string public_url;  // where clients reach this server; empty: as the request says
    metric_set::number& minted;
};

inline metric_set::number& grants_minted(metric_set& metrics)
{
    return metrics.counter("molecule_grants_minted_total", "Upload grants made.");
}

}  // namespace restante
