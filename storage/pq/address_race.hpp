#pragma once

#include "core/task_group.hpp"
#include "storage/pq/connection.hpp"

#include <memory>
#include <vector>

namespace restante::pq {

// Connects to the first of several addresses that accepts us and may be the primary. The next one is tried as
// soon as the one before it has failed, or has not answered within a moment: a host that is frozen, or behind
// a dead network path, costs that moment and not a timeout. Whoever is first wins, the others are given up.
class address_race {
public:
    address_race(executor ex, conninfo info, connect_options options);
    ~address_race();
    address_race(const address_race&) = delete;
    address_race& operator=(const address_race&) = delete;

    // Errors as of connection::open; `why` names every address with its own.
    awaitable<result<std::unique_ptr<connection>>> run(std::vector<server_address> addresses,
                                                       std::string& why);

private:
    struct attempt;
    struct state;

    // Shares the state, because it ends after the race.
    static awaitable<void> try_one(std::shared_ptr<state> race, std::size_t index);

    std::shared_ptr<state> state_;
    task_group tasks_;
};

}  // namespace restante::pq
