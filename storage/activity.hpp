#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// The closed list of activity_logs.activity_type. A workspace may report any of them.
inline constexpr std::array<std::string_view, 7> activity_types{
    "a2a_send", "a2a_receive", "task_update", "agent_log", "skill_promotion", "memory_write", "error"};

// One activity as its writer reports it. Bodies are JSON text.
struct activity {
    uuid id;
    uuid workspace_id;
    std::string activity_type;
    std::optional<uuid> source_id;
    std::optional<uuid> target_id;
    std::optional<std::string> method;
    std::optional<std::string> summary;
    std::optional<std::string> request_body;
    std::optional<std::string> response_body;
    std::optional<std::string> tool_trace;
    std::optional<std::int64_t> duration_ms;
    std::string status = "ok";
    std::optional<std::string> error_detail;
};

// The same with the number and time that its commit gives it, as every reader of the feed sees it.
struct feed_entry {
    activity what;
    std::int64_t seq = 0;
    timestamp created_at{};
};

// Made before the transaction, so that after COMMIT only the numbers remain to be filled in.
using activity_rows = std::vector<std::shared_ptr<feed_entry>>;

// Notified of commits: parked polls, subscribers, other replicas. Called on the shard that committed, after
// COMMIT was confirmed and never otherwise. Must be quick and must not throw.
class commit_listener {
public:
    virtual ~commit_listener() = default;
    virtual void on_commit(std::shared_ptr<const feed_entry> row) noexcept = 0;
};

}  // namespace restante
