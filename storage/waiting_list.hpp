#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "storage/pq/pool.hpp"
#include "storage/quota.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restante {

enum class waiting_order { oldest, bytes, name };

// Where a page of the list begins: after this workspace. `rank` is what the order compares first:
// microseconds since 1970 or bytes, absent for workspaces that nothing waits for, which come last; unused
// with names.
struct waiting_place {
    std::optional<std::int64_t> rank = {};
    uuid id{};
};

// A workspace as an operator sees it in a list.
struct waiting_workspace {
    uuid id{};
    std::string name;
    std::string mode;
    std::string status;
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::optional<timestamp> oldest_at;
    bool estimated = false;
    std::optional<timestamp> last_seen_at;
    std::optional<std::int64_t> max_bytes;  // its own quota
    std::optional<std::int64_t> max_files;

    waiting_place place(waiting_order order) const;
};

// All workspaces that are not removed, with what waits for them. Errors are those of the pool.
class waiting_list {
public:
    explicit waiting_list(pq::connection_pool& db) : db_(db) {}

    // Brings the list up to date, as far as that takes little; the next call goes on from there. While
    // another one is at it, nothing happens.
    awaitable<result<void>> refresh();

    // The first page without `after`.
    awaitable<result<std::vector<waiting_workspace>>> page(waiting_order order,
                                                           std::optional<waiting_place> after, int limit);

    // When all of what the list shows was last counted; nothing as long as it has not been all.
    awaitable<result<std::optional<timestamp>>> counted_at();

private:
    pq::connection_pool& db_;
};

}  // namespace restante
