#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"
#include "storage/tokens.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restante {

// A workspace and its agent, as others see them.
struct workspace_profile {
    uuid id{};
    std::string name;
    std::optional<std::string> role;
    std::string mode;  // empty: a row from before the modes existed
    std::string url;
    std::optional<std::string> agent_card;  // JSON text
    std::string status;
    double error_rate = 0;
    std::string sample_error;
    std::int64_t active_tasks = 0;
    std::int64_t uptime_seconds = 0;
    std::string current_task;
    std::string runtime_state;
    std::optional<timestamp> last_seen_at;
    timestamp created_at{};
    std::optional<timestamp> removed_at;
};

// What an operator says of a new workspace.
struct new_workspace {
    uuid id{};
    std::string name;
    std::optional<std::string> role;
    delivery_mode mode = delivery_mode::poll;
    std::optional<std::string> url;
    std::string inbound_secret;
};

// Which workspaces to list. Oldest first; the next page begins after the last row of this one.
struct directory_query {
    std::optional<uuid> except = {};
    std::string search = {};  // part of name or role, whatever the case; empty: all
    timestamp after_time{};
    uuid after_id{};
};

struct profile_change {
    std::optional<std::string> name;
    std::optional<std::string> role;  // empty: none any more
};

// The workspaces as a list that people and agents look at. Every call fails with an error of the pool when
// the database could not be queried.
class workspace_directory {
public:
    explicit workspace_directory(pq::connection_pool& db) : db_(db) {}

    // A removed one too; nullopt for one that never was.
    awaitable<result<std::optional<workspace_profile>>> find(uuid workspace);

    // At most page_size of those that are not removed; fewer at the end. A card above max_listed_card is left
    // out: a page must have a size.
    static constexpr int page_size = 100;
    static constexpr int max_listed_card = 16 * 1024;
    awaitable<result<std::vector<workspace_profile>>> page(const directory_query& which);

    // Adds one that waits for its agent and returns its name: a taken name gets " (2)". Error:
    // check_violation (a text that PostgreSQL cannot hold).
    awaitable<result<std::string>> create(const new_workspace& what, const new_token& token);

    // Errors: workspace_not_found (unknown or removed), check_violation.
    awaitable<result<void>> change(uuid workspace, const profile_change& what);

    // Stores this card if there is none. JSON text.
    awaitable<result<void>> fill_card(uuid workspace, const std::string& card);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
