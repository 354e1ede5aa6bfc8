#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/memory_budget.hpp"
#include "storage/pq/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace restante {

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
    bool bodies_left_out = false;  // for their size; see feed_query::max_row_bytes
    // Only in a page that was asked for with peer_info.
    std::optional<std::string_view> peer_name = {};
    std::optional<std::string_view> peer_role = {};
};

// The result of one poll, still in the form that PostgreSQL sent: nothing is copied before it is read.
class feed_page {
public:
    static constexpr std::int64_t max_page_bytes = 2 << 20;

    // Bodies of rows above max_row_bytes are not expected to come.
    feed_page(pq::result_set rows, bool with_peer_info, std::int64_t max_row_bytes);
    // A page that was not read, because nothing follows the number.
    static feed_page empty_after(std::int64_t seq);

    // The numbers of the rows whose bodies and texts were left out; add_bodies() supplies them, in rows of
    // seq, method, summary, status, error_detail, request_body, response_body and tool_trace, by rising seq.
    // Shortens the page to what may be fetched, but never to nothing.
    std::vector<std::int64_t> leave_room_for_bodies(std::int64_t max_bytes);
    void add_bodies(pq::result_set bodies) { bodies_.emplace(std::move(bodies)); }

    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // Fails with database_busy when a body has been deleted since the row was read.
    result<feed_row> operator[](int index) const;
    // For a page after a cursor: the number up to which it is complete.
    std::int64_t reaches() const;
    std::size_t memory() const;
    // Accounts for that until the page is destroyed; false when there is no room for it.
    bool charge_to(memory_charge account);

private:
    error_code read_bodies(feed_row& into) const;

    pq::result_set rows_;
    std::optional<pq::result_set> bodies_;
    std::optional<std::int64_t> nothing_after_;
    bool with_peer_info_;
    std::int64_t max_row_bytes_;
    int size_;
    memory_charge charge_;
};

}  // namespace restante
