#pragma once

#include "client/delivery.hpp"
#include "client/feed_progress.hpp"
#include "core/deadline.hpp"
#include "core/task_group.hpp"

namespace restante::client {

// Follows the feed of a workspace and delivers its rows, until it is stopped or, with --once, until there is
// nothing left.
class puller {
public:
    puller(executor ex, const settings& config, server_api& api, pull_state& disk, worker_pool& workers,
           reporter& out);

    // Returns what the command has come to.
    awaitable<exit_code> run();
    void stop(exit_code why);

private:
    using clock = std::chrono::steady_clock;
    using entry = feed_progress::entry;

    awaitable<void> read_feed();
    awaitable<outcome<std::vector<feed_row>>> read_page();
    awaitable<void> after_failed_page(failure why, unsigned used, backoff& pause, clock::time_point since);
    awaitable<void> run_row(std::shared_ptr<entry> which);
    awaitable<outcome<void>> deliver(entry& which);
    awaitable<void> after_failed_row(entry& which, failure why, unsigned token);
    std::uint64_t bytes_there(const entry& which) const;
    void finish_row(entry& which);
    void start_rows();
    void save_cursor();
    void end_if_nothing_is_left();
    awaitable<void> redraw();

    const settings& config_;
    server_api& api_;
    pull_state& disk_;
    reporter& out_;
    task_group tasks_;
    delivery delivery_;
    feed_progress progress_;
    wakeup changed_;
    deadline next_try_;
    unsigned files_running_ = 0;
    bool feed_read_ = false;  // to its end, with --once
    bool was_in_trouble_ = false;
    std::optional<exit_code> first_failure_;
    std::optional<exit_code> result_;
};

}  // namespace restante::client
