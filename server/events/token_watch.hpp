#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"

namespace restante {

class hub;
class token_store;

// Checks every 3 s, in one statement, whether the tokens behind the open subscriptions of a shard are still
// valid, and disconnects those whose token is not. The doorbell is quicker; this works when its notification
// is lost. While the database can't be queried, all stay connected. Ends when the group is asked to stop.
awaitable<void> run_token_watch(hub& events, token_store& tokens, task_group& tasks);

}  // namespace restante
