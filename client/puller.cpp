#include "client/puller.hpp"

#include "client/command_runner.hpp"

#include <cstdlib>

namespace restante::client {

namespace {

using std::chrono::milliseconds;

constexpr int longest_poll = 50;  // seconds; the server allows 55
constexpr auto time_for_page = std::chrono::seconds(longest_poll + 30);
// Between two polls of a server that does not hold them.
constexpr auto pause_between_polls = std::chrono::seconds(2);
// Between two tries of a row that will hardly work: a failing command, a refusal.
constexpr auto pause_after_failure = std::chrono::minutes(1);

failure in_vain(failure why)
{
    why.exit = exit_code::gave_up;
    return why;
}

}  // namespace

puller::puller(executor ex, const settings& config, server_api& api, pull_state& disk, worker_pool& workers,
               reporter& out)
    : config_(config),
      api_(api),
      disk_(disk),
      out_(out),
      tasks_(ex),
      delivery_(tasks_, config, api, disk, workers, out),
      changed_(ex),
      next_try_(ex, [this] { start_rows(); })
{
    progress_.begin_at(disk.log.facts().cursor());
}

void puller::stop(exit_code why)
{
    if (!result_)
        result_ = why;
    tasks_.request_stop();
    changed_.notify_all();
}

awaitable<exit_code> puller::run()
{
    tasks_.on_failure([this](auto) { stop(exit_code::failed); });
    tasks_.spawn("feed", read_feed());
    if (out_.progress().is_on())
        tasks_.spawn("redraw", redraw());
    while (!result_)
        co_await changed_.wait();
    // Commands have their time to end, and what they have done is noted.
    const auto until = clock::now() + time_to_end + milliseconds(500);
    while (delivery_.runs_commands() && co_await changed_.wait_until(until)) {
    }
    api_.stop();
    // What runs can be cut off anywhere; the moment is for acks under way.
    const bool ended = co_await tasks_.shutdown(milliseconds(300));
    out_.progress().erase();
    out_.note("stopped", {{"exit", static_cast<int>(*result_)}}, "");
    // A disk that does not answer keeps its thread for ever, and would keep the command with it.
    if (!ended)
        std::quick_exit(static_cast<int>(*result_));
    co_return *result_;
}

awaitable<void> puller::redraw()
{
    while (!co_await tasks_.stopped_within(milliseconds(100))) {
        // The terminal belongs to the commands while they run.
        if (delivery_.runs_commands())
            continue;
        out_.progress().set_waiting(progress_.waiting());
        out_.progress().draw();
    }
}

awaitable<void> puller::read_feed()
{
    backoff pause;
    std::optional<clock::time_point> first_failure;  // since the last page
    bool began_again = false;                        // and no row is known to the server since
    while (!result_ && !feed_read_) {
        while (!progress_.has_room())
            co_await changed_.wait();
        const auto asked = clock::now();
        const auto used = api_.token_generation();
        auto page = co_await read_page();
        const bool knows_row = page && progress_.read_up_to();
        if (!page && page.error().code == "cursor_gone" && progress_.read_up_to()) {
            out_.note("feed_restarted", {},
                      "The server does not know the last row any more; reading the feed from its beginning.");
            progress_.begin_again();
            if (!std::exchange(began_again, true))
                continue;
            // It does not know the rows that it has just sent either.
            auto why = page.error();
            why.transient = true;
            page = std::move(why);
        }
        if (!page) {
            if (!first_failure)
                first_failure = clock::now();
            co_await after_failed_page(page.error(), used, pause, *first_failure);
            continue;
        }
        api_.token_worked();
        began_again = began_again && !knows_row;
        if (!began_again) {
            if (std::exchange(was_in_trouble_, false))
                out_.note("connected", {}, "The server answers again.");
            pause.reset();
            first_failure.reset();
        }
        feed_read_ = config_.once && page->empty();
        const bool was_held = !page->empty() || clock::now() - asked > pause_between_polls;
        progress_.add(*std::move(page),
                      [this](const uuid& row) { return disk_.log.facts().is_delivered(row); });
        save_cursor();
        start_rows();
        if (!was_held && !config_.once)
            co_await tasks_.stopped_within(pause_between_polls);
    }
    end_if_nothing_is_left();
}

awaitable<outcome<std::vector<feed_row>>> puller::read_page()
{
    std::string path = "/workspaces/" + config_.workspace + "/activity?type=a2a_receive&limit=100&";
    if (const auto& last = progress_.read_up_to())
        path += "since_id=" + to_string(*last);
    else
        path += "since_seq=0";
    if (!config_.once)
        path += "&wait=" + std::to_string(longest_poll);
    const auto got = co_await api_.get(path, time_for_page);
    if (!got)
        co_return got.error();
    if (!got->ok())
        co_return failure_of(*got, "reading the feed");
    auto page = parse_page(got->body);
    // As a cache in between would answer. Without the pause it would be asked without end.
    if (page && !page->empty() && page->back().id == progress_.read_up_to())
        co_return failure{exit_code::gave_up, "bad_answer",
                          "The server sends the same page of the feed again.", true};
    co_return page;
}

awaitable<void> puller::after_failed_page(failure why, unsigned used, backoff& pause, clock::time_point since)
{
    if (why.exit == exit_code::unauthorized && co_await api_.refresh_token(used, why))
        co_return;
    if (why.transient && config_.once && clock::now() - since > config_.give_up_after)
        why = in_vain(why);
    else if (why.transient) {
        was_in_trouble_ = true;
        const auto wait = pause.next(why.retry_after);
        out_.trouble("retry", why, {{"wait_ms", wait.count()}}, trying_again(wait));
        co_await tasks_.stopped_within(wait);
        co_return;
    }
    stop(out_.fail(why));
}

void puller::start_rows()
{
    if (result_)
        return;
    const auto now = clock::now();
    while (const auto next = progress_.start_next(now, files_running_ < config_.parallel)) {
        files_running_ += next->row.file ? 1 : 0;
        tasks_.spawn("row", run_row(next));
    }
    // What is due and could not start waits for a row that ends.
    if (const auto when = progress_.next_try(now); when != clock::time_point::max())
        next_try_.expires_at(when);
}

awaitable<void> puller::run_row(std::shared_ptr<entry> which)
{
    const auto token = api_.token_generation();
    which->most_there = std::max(which->most_there, bytes_there(*which));
    const auto how = co_await deliver(*which);
    // A large file over a bad line: each try that brings more of it is a success. One that brings again what
    // was thrown away is none.
    if (const auto there = bytes_there(*which); there > which->most_there) {
        which->most_there = there;
        which->pause.reset();
        which->first_failure.reset();
    }
    files_running_ -= which->row.file ? 1 : 0;
    if (how)
        finish_row(*which);
    else if (!result_)
        co_await after_failed_row(*which, how.error(), token);
    if (out_.is_unheard())
        stop(exit_code::failed);
    changed_.notify_all();
    start_rows();
    end_if_nothing_is_left();
}

// A row that could not be noted, because the disk is full, is noted later and not delivered again.
awaitable<outcome<void>> puller::deliver(entry& which)
{
    if (!which.delivered) {
        auto how = outcome<void>();
        if (which.row.file)
            how = co_await delivery_.deliver_file(which.row);
        else
            how = co_await delivery_.deliver_message(which.row);
        if (!how)
            co_return how;
        which.delivered = true;
    }
    co_return disk_.log.append(row_line(which.row.id));
}

std::uint64_t puller::bytes_there(const entry& which) const
{
    return which.row.file ? partial_size(disk_.partials->get(), which.row.file->id).value_or(0) : 0;
}

void puller::finish_row(entry& which)
{
    progress_.finish(which);
    save_cursor();
}

awaitable<void> puller::after_failed_row(entry& which, failure why, unsigned token)
{
    if (!which.first_failure)
        which.first_failure = clock::now();
    if (why.exit == exit_code::unauthorized) {
        why.transient = co_await api_.refresh_token(token, why);
        if (!why.transient) {
            stop(out_.fail(why));
            co_return;
        }
    }
    if ((why.code == "directory_gone" || why.code == "io_error") && disk_.is_cut_off()) {
        why.exit = exit_code::failed;
        stop(out_.fail(why));
        co_return;
    }
    const bool tried_long = clock::now() - *which.first_failure > config_.give_up_after;
    if (config_.once && why.transient && tried_long) {
        why = in_vain(why);
        why.transient = false;
    }
    auto pause = which.pause.next(why.retry_after);
    if (!why.transient)
        pause = std::max<milliseconds>(pause, pause_after_failure);
    const bool for_good = config_.once && !why.transient;
    // One file that the server has lost must not hold back the conversation for ever.
    const bool holds_messages = why.transient && !tried_long;
    progress_.postpone(which, for_good ? clock::time_point::max() : clock::now() + pause, holds_messages);
    boost::json::object fields{{"row_id", to_string(which.row.id)}};
    if (which.row.file)
        fields["file_id"] = to_string(which.row.file->id);
    if (for_good) {
        if (!first_failure_)
            first_failure_ = why.exit;
        out_.trouble("failed", why, std::move(fields));
    } else {
        fields["wait_ms"] = pause.count();
        out_.trouble("retry", why, std::move(fields), trying_again(pause));
    }
}

// Not synced: after a power failure the feed is read from an earlier row, and the journal knows the rest.
void puller::save_cursor()
{
    if (const auto cursor = progress_.take_cursor())
        if (const auto saved = disk_.log.append(cursor_line(*cursor)); !saved)
            out_.trouble("retry", saved.error());
}

void puller::end_if_nothing_is_left()
{
    // With --once no failed row makes room for the rest of the feed.
    const bool read_enough = feed_read_ || (config_.once && !progress_.has_room());
    if (read_enough && progress_.is_settled())
        stop(first_failure_.value_or(exit_code::done));
}

}  // namespace restante::client
