#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"
#include "storage/tokens.hpp"
#include "storage/workspace_facts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restante {

// What a workspace reports about itself. What is absent stays unchanged.
struct registration {
    uuid id{};
    delivery_mode mode = delivery_mode::poll;
    std::optional<std::string> url;
    std::optional<std::string> name;
    std::optional<std::string> agent_card;  // JSON text
    std::string inbound_secret = {};        // becomes its secret if it has none yet
};

// Whether the caller has proved to act for the workspace: with one of its tokens, or as admin.
enum class caller { unproven, proven };

// What happened to the token that came with a registration.
enum class first_token { stored, not_needed };

struct registered {
    first_token token = first_token::not_needed;
    std::string inbound_secret;  // the one that is valid now
};

// What a forward must know of its workspace.
struct workspace_callback {
    std::string url;  // empty when it has none
    std::optional<std::string> inbound_secret;
};

enum class inbound_secret { keep, rotate };

struct workspace_info {
    uuid id{};
    std::optional<std::string> name;
    std::optional<std::string> mode;
    std::optional<std::string> url;
    std::string status;
    std::int64_t live_tokens = 0;
    timestamp created_at{};
    std::optional<timestamp> removed_at;
};

// The workspaces in PostgreSQL. Every call fails with an error of the pool when the database could not be
// queried.
class workspace_store {
public:
    explicit workspace_store(pq::connection_pool& db) : db_(db) {}

    // Writes a new workspace or updates a known one; all of it or nothing. If it has no live token, `fresh`
    // is stored. If it has ever had one, live or revoked, the caller must be proven: a workspace whose last
    // token was revoked does not belong to whoever comes next. Two registrations of one id come one after the
    // other.
    //
    // Errors: workspace_removed, missing_token (it has had a token, and the caller is unproven),
    // check_violation (a text that PostgreSQL cannot hold).
    awaitable<result<registered>> register_workspace(const registration& what, const new_token& fresh,
                                                     caller who);

    // Errors: workspace_not_found (unknown or removed).
    awaitable<result<workspace_facts>> find(uuid workspace);

    // Errors: workspace_not_found.
    awaitable<result<workspace_callback>> callback_of(uuid workspace);

    // The secret that is valid now: `fresh` if there was none, or if it is to be replaced. Errors:
    // workspace_not_found.
    awaitable<result<std::string>> set_inbound_secret(uuid workspace, std::string fresh, inbound_secret old);

    // Marks it removed and revokes its tokens. Staged files and history stay. Errors: workspace_not_found.
    awaitable<result<void>> remove(uuid workspace);

    // All of them, oldest first, removed ones included.
    awaitable<result<std::vector<workspace_info>>> list();

private:
    awaitable<result<registered>> was_stored(uuid workspace, uuid token);

    pq::connection_pool& db_;
};

}  // namespace restante
