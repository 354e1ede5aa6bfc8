#pragma once

#include "bench/scenarios.hpp"

namespace restante::bench {

// Requests that all connections together send in turn, over and over. Kinds may be mixed; each has its own
// line in the table.
struct plan {
    struct entry {
        std::size_t request;  // index into requests
        std::size_t kind;     // index into kinds
    };

    std::vector<std::string> kinds;
    std::vector<std::string> requests;
    std::vector<entry> order;

    // Adds the request and puts it at the end of the order.
    void add(std::string request, std::size_t kind = 0);
};

// Closed loop: each connection sends its next request once the last one was answered. A broken connection
// counts as an error and is opened again. Throws failure if it cannot be opened, or if more than half of the
// requests fail, because then there is nothing to measure.
std::vector<measurement> run_load(const scenario_context& context, const plan& what);

}  // namespace restante::bench
