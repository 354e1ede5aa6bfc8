#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"
#include "storage/tokens.hpp"
#include "storage/workspace_facts.hpp"
#include "storage/workspace_turns.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restante {

// An agent that registers is there; a workspace that an operator adds waits for its agent.
enum class registered_by { agent, operator_ };

// What a workspace reports about itself. What is absent stays unchanged.
struct registration {
    uuid id{};
    delivery_mode mode = delivery_mode::poll;
    std::optional<std::string> url;
    std::optional<std::string> name;
    std::optional<std::string> agent_card;      // JSON text
    std::string inbound_secret = {};            // becomes its secret if it has none yet
    std::optional<std::string> card_name = {};  // its name as long as it has no other
    bool mode_is_guess = false;                 // a mode that is stored already stays
    registered_by by = registered_by::agent;
};

// Whether the caller has proved to act for the workspace.
enum class caller {
    unproven,
    with_token,  // one of its tokens, which may have been revoked since it was looked up
    proven,      // the admin or the operator
};

// What happened to the token that came with a registration.
enum class first_token { stored, not_needed };

struct registered {
    first_token token = first_token::not_needed;
    std::string inbound_secret;  // the one that is valid now
    delivery_mode mode = delivery_mode::none;
    std::string name;
    bool ended_task = false;  // the one that the agent's former run had reported
};

// What a heartbeat, or a registration that names no mode, must know of its workspace.
struct agent_facts {
    std::optional<std::string> inbound_secret;
    bool has_card = false;
    delivery_mode mode = delivery_mode::none;
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
    std::optional<timestamp> last_seen_at;
};

// The workspaces in PostgreSQL. Every call fails with an error of the pool when the database could not be
// queried.
class workspace_store {
public:
    explicit workspace_store(pq::connection_pool& db) : db_(db) {}

    // Writes a new workspace or updates a known one; all of it or nothing. If it has no live token, `fresh`
    // is stored. If it has ever had one, live or revoked, an unproven caller is refused: a workspace whose
    // last token was revoked does not belong to whoever comes next, nor to whoever held that token. Two
    // registrations of one id come one after the other. After 9 s at most it has ended.
    //
    // Errors: workspace_removed, missing_token (it has had a token, and the caller is unproven),
    // invalid_token (it has no live token, so that of the caller is none), callback_url_not_allowed (the mode
    // is a guess, poll, and the workspace is called: its url would become one that nobody has checked),
    // check_violation (a text that PostgreSQL cannot hold), commit_outcome_unknown (even asking afterwards
    // gave no answer).
    awaitable<result<registered>> register_workspace(const registration& what, const new_token& fresh,
                                                     caller who);

    // Errors: workspace_not_found (unknown or removed).
    awaitable<result<workspace_facts>> find(uuid workspace);

    // An unproven caller is refused by the same rule as in a registration. Errors:
    // workspace_not_found, workspace_removed, missing_token.
    awaitable<result<agent_facts>> agent_of(uuid workspace, caller who);

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
    using clock = std::chrono::steady_clock;

    awaitable<result<registered>> try_register(const registration& what, const new_token& fresh, caller who,
                                               clock::time_point give_up_at, bool& mints);
    awaitable<result<registered>> settle(uuid workspace, uuid token, uuid owner,
                                         clock::time_point give_up_at);
    awaitable<result<registered>> was_stored(uuid workspace, uuid token, uuid owner,
                                             clock::time_point give_up_at);

    pq::connection_pool& db_;
    // Those who have shown no token do not stand in the way of those who have.
    workspace_turns turns_{{}};
    workspace_turns strangers_turns_{{}};
};

}  // namespace restante
