#pragma once

#include "client/fetcher.hpp"
#include "client/group_sync.hpp"
#include "client/pull_state.hpp"
#include "client/reporter.hpp"
#include "client/slots.hpp"
#include "core/secret_hash.hpp"
#include "core/task_group.hpp"

namespace restante::client {

// What happens with one row of the feed: its file is fetched, placed, handed to the command and acked; its
// message is handed to the command and printed.
class delivery {
public:
    // Commands have to end when these tasks are to stop.
    delivery(task_group& tasks, const settings& config, server_api& api, pull_state& disk,
             worker_pool& workers, reporter& out);

    // Either may be repeated after a failure, and goes on where it was. Both fail with what fetch(), the
    // disk, run_command() and answers fail with.
    awaitable<outcome<void>> deliver_file(const feed_row& row);
    awaitable<outcome<void>> deliver_message(const feed_row& row);

    bool runs_commands() const { return commands_.are_held(); }

private:
    awaitable<outcome<std::string>> get_into_directory(const announced_file& what);
    awaitable<outcome<std::string>> place(const announced_file& what, partial_file file);
    awaitable<outcome<bool>> place_as(const announced_file& what, const std::string& name);
    awaitable<outcome<void>> run_and_note(const feed_row& row, const std::string& name);
    awaitable<outcome<void>> run_for(const boost::json::object& row, const announced_file* file,
                                     const std::string& path);
    awaitable<outcome<void>> ack(const announced_file& what);
    boost::json::object rewritten(const boost::json::object& row) const;
    void report(const feed_row& row, const std::string& name);

    task_group& tasks_;
    const settings& config_;
    pull_state& disk_;
    worker_pool& workers_;
    reporter& out_;
    fetch_places places_;
    group_sync partials_;
    group_sync before_placing_;
    group_sync after_placing_;
    free_names names_;
    std::unordered_set<uuid, secret_hash> under_way_;
    // Their commands have succeeded, which a full disk has kept from the journal.
    std::unordered_set<uuid, secret_hash> ran_;
    slots commands_;
};

}  // namespace restante::client
