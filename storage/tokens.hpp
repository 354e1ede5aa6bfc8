#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "storage/pq/pool.hpp"
#include "storage/workspace_facts.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace restante {

// What is stored of a new token. The token itself is never passed here.
struct new_token {
    uuid id = make_uuid_v4();
    digest32 hash{};
    std::string prefix;
};

// A token as its owner may see it in a list.
struct token_info {
    uuid id{};
    std::string prefix;
    timestamp created_at{};
    std::optional<timestamp> last_used_at;
    std::optional<timestamp> revoked_at;
};

// The owner of a token.
struct token_owner {
    digest32 hash{};
    uuid token{};
    workspace_facts workspace;
};

// The tokens of workspaces in PostgreSQL, by their hashes. Every call fails with an error of the pool when
// the database could not be queried.
class token_store {
public:
    explicit token_store(pq::connection_pool& db) : db_(db) {}

    // The owners of those tokens that are live, in any order, with all that a request must know of their
    // workspaces: one round trip. Tokens of a removed workspace are among them (facts.removed), so that its
    // runtime learns that it was removed instead of that it is unknown.
    awaitable<result<std::vector<token_owner>>> find(std::span<const digest32> hashes);

    // Errors: workspace_not_found (unknown or removed).
    awaitable<result<token_info>> mint(uuid workspace, const new_token& token);

    // Newest first, revoked ones included; at most 500.
    awaitable<result<std::vector<token_info>>> list(uuid workspace);

    // Idempotent: the time of the first revocation stays. Errors: not_found (unknown, or another
    // workspace's).
    awaitable<result<void>> revoke(uuid workspace, uuid token);

    // Best effort. The database enforces one stamp a minute, whatever the shards and replicas do.
    awaitable<result<void>> stamp_last_used(std::span<const uuid> tokens);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
