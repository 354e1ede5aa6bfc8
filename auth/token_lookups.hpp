#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/wakeup.hpp"
#include "storage/tokens.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace restante {

// Asks the database for tokens, one query of this shard at a time. Hashes that come in meanwhile travel
// together in the next one, each of them once. So nobody waits for more than two queries, and a flood of
// wrong tokens occupies one connection, not all of them.
class token_lookups {
public:
    using owners = result<std::vector<token_owner>>;
    // The hashes stay in place until it has returned.
    using query = std::function<awaitable<owners>(std::span<const digest32>)>;

    token_lookups(executor ex, query ask) : executor_(ex), ask_(std::move(ask)), free_(ex) {}

    // nullopt: no such token. Errors: those of the query. When one fails, those who wait behind it fail with
    // it: to wait for the same failure once more would only keep their clients longer.
    awaitable<result<std::optional<token_owner>>> find(digest32 hash);

private:
    struct batch {
        explicit batch(executor ex) : settled(ex) {}
        std::map<digest32, std::optional<token_owner>> answers;
        error_code failure;
        bool done = false;
        wakeup settled;  // done, or left by the one who ran it
    };
    class turn;

    awaitable<void> run(std::shared_ptr<batch> mine);
    void fail_those_behind(const error_code& failure);

    executor executor_;
    query ask_;
    std::shared_ptr<batch> running_;
    std::shared_ptr<batch> waiting_;
    wakeup free_;  // no batch is running
};

}  // namespace restante
