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

// Looks up tokens in the database, one query per shard at a time. Hashes that arrive meanwhile are batched
// into the next query, without duplicates. So no request waits for more than two queries, and a flood of
// wrong tokens occupies one connection, not all of them.
class token_lookups {
public:
    using owners = result<std::vector<token_owner>>;
    // The hashes stay valid until it has returned.
    using query = std::function<awaitable<owners>(std::span<const digest32>)>;

    token_lookups(executor ex, query ask) : executor_(ex), ask_(std::move(ask)), free_(ex) {}

    // nullopt: no such token. Errors: those of the query. A failed query also fails the waiting batch: to
    // wait for the same failure again would only hold up its clients.
    awaitable<result<std::optional<token_owner>>> find(digest32 hash);

private:
    struct batch {
        explicit batch(executor ex) : settled(ex) {}
        std::map<digest32, std::optional<token_owner>> answers;
        error_code failure;
        bool done = false;
        wakeup settled;  // done, or abandoned by the coroutine that ran it
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
