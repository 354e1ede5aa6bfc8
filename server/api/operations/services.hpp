#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <functional>
#include <string>

namespace restante {

class readiness;
class task_group;

// What the operator's routes work with.
struct operations_services {
    const readiness& ready;
    task_group& requests;

    // The figures of all shards added up, in Prometheus' text format. Errors: shutting_down, no_room (a shard
    // did not answer in time).
    std::function<awaitable<result<std::string>>()> scrape;
};

}  // namespace restante
