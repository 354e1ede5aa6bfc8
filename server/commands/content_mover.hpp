#pragma once

#include "core/memory_budget.hpp"
#include "server/commands/content_session.hpp"
#include "server/commands/progress_line.hpp"
#include "server/spool/spool.hpp"

#include <memory>
#include <optional>

namespace restante {

enum class move_outcome { moved, stays, too_large, lost, unreadable };

// What would become of a file: it stays, is too large for a row, or is moved. Small files stay in their rows,
// whatever the store.
move_outcome plan_move(const content_row& row, content_place to, const content_policy& policy);

// Brings the bytes of one file after the other into a store: a copy under a new key, then the row, whose
// change queues what it named before for removal. A file that changes its place meanwhile, or is swept,
// stays.
class content_mover {
public:
    content_mover(content_session on, const settings& config, content_place to);

    // Errors are those of the stores as such, of the database, and of our own copy; a file whose bytes are
    // not what they should be, or cannot be read, is an outcome.
    awaitable<result<move_outcome>> move(const content_row& row, progress_line& progress);

private:
    enum class fetched { whole, missing, unreadable };

    awaitable<result<fetched>> judge_failure(const content_row& row, error_code ec) const;
    awaitable<result<fetched>> fetch(const content_row& row, spool& into, progress_line& progress);
    error_code copy_failed(const error_code& ec) const { return store_failed(on_, to_, ec); }
    awaitable<result<move_outcome>> still_there(const content_row& row, fetched how);
    awaitable<result<move_outcome>> into_store(const content_row& row, content_place target,
                                               std::shared_ptr<spool> bytes);
    awaitable<error_code> keep_from_removal(content_place target, const std::string& key);
    awaitable<result<move_outcome>> into_row(const content_row& row, spool& bytes);

    content_session on_;
    content_place to_;
    memory_budget memory_;
    spool_budget budget_;
    std::optional<store_directory> directory_;
};

}  // namespace restante
