#pragma once

#include "bench/scenarios.hpp"

namespace restante::bench {

// Requests that are sent round and round by all connections together. Several kinds may be mixed; each gets a
// line of the table.
struct plan {
    struct entry {
        std::size_t request;  // index into requests
        std::size_t kind;     // index into kinds
    };

    std::vector<std::string> kinds;
    std::vector<std::string> requests;
    std::vector<entry> order;

    // Adds the request to the round as well.
    void add(std::string request, std::size_t kind = 0);
};

// Closed loop: each connection sends its next request when the one before was answered. A connection that
// breaks is counted as an error and opened again. Throws failure when that is not possible, or when more than
// half of the requests fail, because then there is nothing to measure.
std::vector<measurement> run_load(const surroundings& world, const plan& what);

}  // namespace restante::bench
