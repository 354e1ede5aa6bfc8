#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"

namespace restante {

class hub;
class token_store;

// Asks every 3 s, in one statement, whether the tokens behind the open sockets of a shard are still good, and
// sends those away whose token is not. The doorbell is quicker; this holds when it is not heard. While the
// database can't be asked, everybody stays. Ends when the group is asked to stop.
awaitable<void> run_token_watch(hub& events, token_store& tokens, task_group& tasks);

}  // namespace restante
