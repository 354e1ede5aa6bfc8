#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "storage/grant_terms.hpp"
#include "storage/pq/pool.hpp"
#include "storage/token_scope.hpp"
#include "storage/workspace_facts.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace restante {

// What is stored of a new token. The token itself is never passed here.
struct new_token {
    uuid id = make_uuid_v4();
    digest32 hash{};  // SHA-256 of the token
    std::string prefix;
    token_scope scope = token_scope::full;
    std::optional<std::string> name = {};
    std::optional<std::chrono::seconds> lifetime = {};
    std::optional<uuid> minted_with = {};  // the token of its maker, if it has one; that must be live
};

// The limits of a new grant. Its note is the token's name.
struct new_grant {
    grant_terms terms;
    // Its maker, who is otherwise known by the prefix of the token that it was minted with.
    std::string made_by = "admin";
};

// A token as its owner may see it in a list.
struct token_info {
    uuid id{};
    std::string prefix;
    token_scope scope = token_scope::full;
    std::optional<std::string> name;
    timestamp created_at{};
    std::optional<timestamp> last_used_at;
    std::optional<timestamp> expires_at;
    std::optional<timestamp> revoked_at;
};

struct grant_info {
    token_info token;
    std::string created_by;
    grant_terms terms;
};

// A token as its bearer may see it.
struct token_view {
    uuid workspace{};
    std::string workspace_name;  // or its id
    grant_info token;            // created_by and terms are those of a grant
};

// The owner of a token, and what the token is good for.
struct token_owner {
    digest32 hash{};
    uuid token{};
    token_scope scope = token_scope::full;
    std::optional<std::chrono::microseconds> life_left;  // when the database was asked
    std::shared_ptr<const grant_terms> grant;            // of a grant only
    workspace_facts workspace;
};

// What has changed lately for those who remember tokens and workspaces.
struct identity_changes {
    std::vector<uuid> revoked_tokens;
    std::vector<uuid> changed_workspaces;  // removed ones among them
};

// The tokens of workspaces in PostgreSQL, by their hashes; upload grants are among them. Every call fails
// with an error of the pool when the database could not be queried.
class token_store {
public:
    // Of one workspace, each of tokens and grants, so that neither crowds out the other.
    static constexpr std::int64_t max_live = 1000;
    // Ended ones are forgotten beyond this many.
    static constexpr std::int64_t max_ended = 500;

    explicit token_store(pq::connection_pool& db) : db_(db) {}

    // The owners of those tokens that are live, in any order, with all that a request must know of their
    // workspaces: one round trip. Tokens of a removed workspace are among them (facts.removed), so that its
    // runtime learns that it was removed instead of that it is unknown.
    awaitable<result<std::vector<token_owner>>> find(std::span<const digest32> hashes);

    // Errors: workspace_not_found (unknown or removed), invalid_token (that of the maker has ended),
    // too_many_tokens. That bound is exact, whoever mints at the same time.
    awaitable<result<token_info>> mint(uuid workspace, const new_token& token,
                                       std::int64_t most_live = max_live);
    awaitable<result<grant_info>> mint_grant(uuid workspace, const new_token& token, const new_grant& grant);

    // Live ones first, each newest first; revoked and expired ones included, at most max_live + max_ended in
    // all.
    awaitable<result<std::vector<token_info>>> list(uuid workspace);
    awaitable<result<std::vector<grant_info>>> list_grants(uuid workspace);

    // What is left of it included; nothing when it is gone.
    awaitable<result<std::optional<token_view>>> view(uuid token);

    // Idempotent: the time of the first revocation stays. Errors: not_found (unknown, or another
    // workspace's), and for a grant grant_not_found.
    awaitable<result<void>> revoke(uuid workspace, uuid token);
    awaitable<result<void>> revoke_grant(uuid workspace, uuid grant);

    // Of the last minute, which is longer than any transaction of ours takes to revoke a token or to change a
    // workspace.
    awaitable<result<identity_changes>> recent_changes();

    // Best effort. The database enforces one stamp a minute, whatever the shards and replicas do.
    awaitable<result<void>> stamp_last_used(std::span<const uuid> tokens);

private:
    awaitable<result<pq::result_set>> insert(uuid workspace, const new_token& token, const new_grant* grant,
                                             std::int64_t most_live);
    awaitable<result<void>> revoke_row(uuid workspace, uuid token, bool is_grant);

    pq::connection_pool& db_;
};

// The hash under which a restricted token is stored; sql/0011 says why it is another.
digest32 restricted_hash(const digest32& hash);

}  // namespace restante
