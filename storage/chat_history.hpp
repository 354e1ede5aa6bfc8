#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace restante {

// A row of the feed that came from the canvas or was said to it. Texts belong to the page.
struct chat_row {
    uuid id;
    std::int64_t seq = 0;
    timestamp created_at{};
    std::optional<std::string_view> request_body;
    std::optional<std::string_view> response_body;
    bool left_out = false;  // the bodies, for their size
};

// Newest first. Rows of uploads are among them, without bodies: they are no messages, and a reader must know
// how far it has come.
class chat_page {
public:
    chat_page(pq::result_set rows, int asked);

    int size() const { return rows_.size(); }
    result<chat_row> operator[](int index) const;
    std::size_t memory() const { return rows_.memory(); }
    // Nothing is older than the last of these rows.
    bool is_last() const { return last_; }

private:
    pq::result_set rows_;
    bool last_;
};

// Where a page begins.
struct chat_start {
    std::optional<timestamp> before = {};                           // older than this
    std::int64_t up_to = std::numeric_limits<std::int64_t>::max();  // and not after this number
};

// The chat of a workspace, from its feed. One statement a page, along the index of rows without a source; its
// cost does not depend on the length of the history.
class chat_history {
public:
    static constexpr int rows_a_page = 200;
    static constexpr std::int64_t max_bytes = 1 << 20;  // of a page's bodies; one row may be more
    static constexpr std::int64_t max_row_bytes = (1 << 20) + (1 << 16);

    explicit chat_history(pq::connection_pool& db) : db_(db) {}

    // Errors are those of the pool.
    awaitable<result<chat_page>> read(uuid workspace, chat_start from);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
