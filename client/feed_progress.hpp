#pragma once

#include "client/backoff.hpp"
#include "client/feed_row.hpp"
#include "client/progress_text.hpp"
#include "core/secret_hash.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_set>

namespace restante::client {

// Which rows of the feed to work on, in which order, and how far everything is done. Decides, without I/O.
//
// Files are fetched side by side. A message waits for the rows before it, because it may name their files,
// but not for those that have failed: one bad file must not hold back the conversation.
class feed_progress {
public:
    using clock = std::chrono::steady_clock;
    // Rows that are read and not done. Beyond it the feed is not read on.
    static constexpr std::size_t window = 256;

    enum class state { waiting, running, later, failed, done };
    struct entry {
        feed_row row;
        state now = state::waiting;
        clock::time_point not_before = {};  // of later and failed
        backoff pause = backoff();
        std::optional<clock::time_point> first_failure = {};
        std::uint64_t most_there = 0;  // of its bytes, ever
        bool delivered = false;        // and the journal does not say so yet
    };

    // Adds the rows of a page; those for which this is true were delivered before.
    using delivered = std::function<bool(const uuid& row)>;
    void add(std::vector<feed_row> rows, const delivered& before);

    bool has_room() const { return unfinished_ < window; }
    // Files that are known of and not begun, or tried again soon.
    amount waiting() const;
    bool all_done() const { return unfinished_ == 0; }
    // Nothing will happen by itself: each row is done or has failed.
    bool is_settled() const;

    // The next row to start, marked as running; null if there is none now. `files_allowed` is false when as
    // many as may run are running.
    std::shared_ptr<entry> start_next(clock::time_point now, bool files_allowed);
    // When start_next() may have another one that is not due yet, apart from rows that end.
    clock::time_point next_try(clock::time_point now) const;

    void finish(entry& which);
    // `blocking`: messages behind it wait for it.
    void postpone(entry& which, clock::time_point until, bool blocking);

    // The last row of those at the beginning that are all done, once after it has moved.
    std::optional<uuid> take_cursor();
    // The last row that was read; the next page begins after it.
    const std::optional<uuid>& read_up_to() const { return read_up_to_; }
    void begin_at(std::optional<uuid> row) { read_up_to_ = row; }
    // The server does not know the last row any more.
    void begin_again() { read_up_to_.reset(); }

private:
    void drop_done();

    std::deque<std::shared_ptr<entry>> entries_;
    std::unordered_set<uuid, secret_hash> known_;  // ids of entries_
    std::optional<uuid> read_up_to_;
    std::optional<uuid> cursor_;
    std::size_t unfinished_ = 0;
    bool cursor_moved_ = false;
};

}  // namespace restante::client
