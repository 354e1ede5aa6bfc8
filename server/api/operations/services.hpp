#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace restante {

class readiness;
class task_group;

// What the operator's routes work with.
struct operations_services {
    const readiness& ready;  // of this shard
    task_group& requests;

    // Why the shards of this process cannot do their work; empty: they can.
    std::function<awaitable<std::vector<std::string>>()> reasons_not_ready;

    // The figures of all shards added up, in Prometheus' text format. Errors: shutting_down, no_room (a shard
    // did not answer in time).
    std::function<awaitable<result<std::string>>()> scrape;

    const std::string& openapi;  // the document, as it is served
};

}  // namespace restante
