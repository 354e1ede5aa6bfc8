#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

enum class activity_source { any, canvas, agent };

// What a reader of the feed asks for; everything in it has been checked.
struct feed_query {
    static constexpr int default_limit = 100;
    static constexpr int max_limit = 500;

    uuid workspace{};
    std::optional<uuid> since_id = {};  // at most one of these two
    std::optional<std::int64_t> since_seq = {};
    std::optional<std::string> type = {};
    activity_source source = activity_source::any;
    std::optional<uuid> peer = {};
    std::optional<std::chrono::seconds> since = {};  // back from the database's now
    std::optional<timestamp> before = {};
    int limit = default_limit;
    bool peer_info = false;
};

// A row of the feed. Its texts belong to the page it came from; bodies are JSON.
struct feed_row {
    uuid id;
    uuid workspace_id;
    std::string_view activity_type;
    std::optional<uuid> source_id;
    std::optional<uuid> target_id;
    std::optional<std::string_view> method;
    std::optional<std::string_view> summary;
    std::optional<std::int64_t> duration_ms;
    std::string_view status;
    std::optional<std::string_view> error_detail;
    timestamp created_at{};
    std::int64_t seq = 0;
    std::optional<std::string_view> request_body;
    std::optional<std::string_view> response_body;
    std::optional<std::string_view> tool_trace;
    // Only in a page that was asked for with peer_info.
    std::optional<std::string_view> peer_name = {};
    std::optional<std::string_view> peer_role = {};
};

// What one poll gave, still in the form that PostgreSQL sent: nothing is copied before somebody looks.
class feed_page {
public:
    feed_page(pq::result_set rows, bool with_peer_info);

    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    result<feed_row> operator[](int index) const;
    std::size_t memory() const { return rows_.memory(); }

private:
    pq::result_set rows_;
    bool with_peer_info_;
    int size_;
};

// How far the numbers of a workspace have come.
struct activity_head {
    uuid workspace;
    std::int64_t seq = 0;
};

// The reading side of the feed. Each call is one statement; its cost does not depend on the length of the history.
class activity_feed {
public:
    explicit activity_feed(pq::connection_pool& db) : db_(db) {}

    // With a cursor: the rows after it, oldest first; without: the newest, newest first. Fails with cursor_gone when
    // since_id is no row of this workspace.
    awaitable<result<feed_page>> read(const feed_query& query);

    // The heads of these workspaces, in no order; one without activity has none.
    awaitable<result<std::vector<activity_head>>> heads(std::span<const uuid> workspaces);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
