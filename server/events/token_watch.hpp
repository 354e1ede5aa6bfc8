#pragma once

#include "core/asio.hpp"
#include "core/sha256.hpp"
#include "core/task_group.hpp"

#include <vector>

namespace restante {

class token_store;

// Keeps something open on behalf of tokens, longer than the requests that brought them.
class token_holder {
public:
    virtual ~token_holder() = default;

    virtual void add_tokens(std::vector<digest32>& to) const = 0;
    // This one is no longer good.
    virtual void refuse_token(const digest32& hash) = 0;
};

// Asks every 3 s, in one statement, whether the tokens behind the open sockets and parked polls of a shard
// are still good, and refuses those that are not. The doorbell is quicker; this holds when it is not heard.
// While the database can't be asked, everybody stays. Ends when the group is asked to stop.
awaitable<void> run_token_watch(std::vector<token_holder*> holders, token_store& tokens, task_group& tasks);

}  // namespace restante
