#include "storage/doorbell.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>

namespace restante {

namespace {

using std::chrono::milliseconds;

constexpr auto between_rings = milliseconds(20);
constexpr auto between_attempts = milliseconds(250);
// A connection that has died silently, or leads to a primary that is frozen or has been replaced, is detected
// by a query on it.
constexpr auto silence_before_asking = std::chrono::seconds(2);
constexpr auto answer_limit = std::chrono::seconds(2);
// More workspaces than a payload can name.
constexpr std::size_t too_many_to_name = 1000;
// A sweep may end files faster than others can be notified of it.
constexpr std::size_t most_live_events = 4096;
constexpr std::size_t live_payloads_a_ring = 16;

// A notification outlives no crash, so its commit waits for no standby: while that is stalled, each attempt
// would leave a session behind.
const statement notify{
    "ring_doorbell",
    "SELECT set_config('synchronous_commit', 'local', true), pg_notify('restante', $1::text)"};
const statement notify_live{"ring_live_events",
                            "SELECT set_config('synchronous_commit', 'local', true), "
                            "(SELECT count(pg_notify('restante_events', payload)) "
                            "FROM unnest($1::text[]) AS payload)"};
const statement are_you_there{"are_you_there", "SELECT 1"};
const std::string live_channel = "restante_events";
const std::string listen = "LISTEN restante; LISTEN restante_events";

}  // namespace

doorbell::doorbell(executor ex, pq::connect_options connect, doorbell_listener& listener)
    : connect_(std::move(connect)), listener_(listener), wake_(ex)
{
}

void doorbell::activity(const uuid& workspace, std::int64_t seq)
try {
    fault_point("before_bell");
    if (waiting_.activity.size() >= too_many_to_name) {
        waiting_.activity.clear();
        waiting_.everything = true;
    }
    auto& newest = waiting_.activity[workspace];
    newest = std::max(newest, seq);
    wake_.notify_all();
} catch (const std::bad_alloc&) {
    waiting_.everything = true;
    wake_.notify_all();
}

void doorbell::add(std::vector<uuid>& to, const uuid& about)
{
    to.push_back(about);
    wake_.notify_all();
}

void doorbell::token_revoked(const uuid& token)
{
    add(waiting_.revoked_tokens, token);
}

void doorbell::workspace_changed(const uuid& workspace)
{
    add(waiting_.changed_workspaces, workspace);
}

void doorbell::workspace_removed(const uuid& workspace)
{
    add(waiting_.removed_workspaces, workspace);
}

void doorbell::live(std::shared_ptr<const live_event> what)
{
    if (live_.size() == most_live_events)
        live_.pop_front();
    live_.push_back(std::move(what));
    wake_.notify_all();
}

bool doorbell::nothing_to_send() const
{
    return waiting_.empty() && live_.empty() && payload_.empty() && live_payloads_.empty();
}

awaitable<void> doorbell::run_ringer(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { wake_.notify_all(); });
    while (!tasks.stop_requested()) {
        if (nothing_to_send()) {
            co_await wake_.wait();
            continue;
        }
        const bool rang = co_await ring();
        const auto pause = rang ? between_rings : between_attempts;
        co_await tasks.stopped_within(pause);
    }
    if (!nothing_to_send())
        co_await ring();
}

void doorbell::write_payloads()
{
    if (payload_.empty() && !waiting_.empty())
        payload_ = write_payload(self_, waiting_);
    while (!live_.empty() && live_payloads_.size() < live_payloads_a_ring)
        live_payloads_.push_back(write_live_payload(self_, ++payloads_written_, live_));
}

// An idle connection may be dead, which shows only now; the NOTIFY is retried once, on a new connection.
awaitable<bool> doorbell::ring()
{
    write_payloads();
    for (bool fresh = false; !fresh;) {
        if (!ringing_line_ || ringing_line_->outdated()) {
            auto opened = co_await pq::connection::open(connect_);
            if (!opened)
                co_return false;
            ringing_line_ = std::move(*opened);
            ringing_line_->io_timeout(answer_limit);
            connect_.try_first = ringing_line_->address();
            fresh = true;
        }
        const bool sent = co_await send_on_line();
        if (sent)
            co_return true;
        ringing_line_.reset();
    }
    co_return false;
}

awaitable<bool> doorbell::send_on_line()
{
    if (!payload_.empty()) {
        const pq::parameters with(payload_);
        const auto sent = co_await ringing_line_->execute(notify, with);
        if (!sent)
            co_return false;
        payload_.clear();
    }
    if (!live_payloads_.empty()) {
        const std::vector<std::string_view> texts(live_payloads_.begin(), live_payloads_.end());
        const pq::parameters with{std::span(texts)};
        const auto sent = co_await ringing_line_->execute(notify_live, with);
        if (!sent)
            co_return false;
        live_payloads_.clear();
    }
    co_return true;
}

awaitable<void> doorbell::run_listener(task_group& tasks)
{
    const changes look_at_everything{.everything = true};
    while (!tasks.stop_requested()) {
        std::unique_ptr<pq::connection> line;
        const bool listening = co_await start_listening(line);
        if (listening) {
            listener_.on_changes(look_at_everything);
            co_await listen_on(*line, tasks);
        }
        if (!tasks.stop_requested())
            log_line(log_level::debug, "doorbell_lost").field("listened", listening);
        line.reset();
        // A broken connection is replaced without a pause: notifications sent meanwhile are lost.
        if (!listening)
            co_await tasks.stopped_within(between_attempts);
    }
}

awaitable<bool> doorbell::start_listening(std::unique_ptr<pq::connection>& line)
{
    auto opened = co_await pq::connection::open(connect_);
    if (!opened)
        co_return false;
    line = std::move(*opened);
    connect_.try_first = line->address();
    line->io_timeout(answer_limit);
    const auto listening = co_await line->execute_script(listen);
    co_return listening.has_value();
}

// Returns when the connection is broken or the group is asked to stop.
awaitable<void> doorbell::listen_on(pq::connection& line, task_group& tasks)
{
    using namespace asio::experimental::awaitable_operators;
    while (!tasks.stop_requested()) {
        auto notified = line.next_notification();
        auto silence = tasks.stopped_within(silence_before_asking);
        const auto first = co_await (std::move(notified) || std::move(silence));
        if (const auto* received = std::get_if<0>(&first)) {
            if (!*received)
                co_return;
            deliver(**received);
            continue;
        }
        if (tasks.stop_requested() || line.outdated())
            co_return;
        const auto answer = co_await line.execute(are_you_there);
        if (!answer)
            co_return;
    }
}

void doorbell::deliver(const pq::notification& heard)
{
    if (heard.channel == live_channel) {
        const auto read = read_live_payload(heard.payload);
        if (read && read->sender != self_ && delivered_.add(*read))
            for (const auto& each : read->events)
                listener_.on_remote_event(each);
        return;
    }
    const auto read = read_payload(heard.payload);
    if (!read) {
        // Written by a newer server, or by hand: something has changed, and a check of everything finds it.
        listener_.on_changes(changes{.everything = true});
        return;
    }
    if (read->sender != self_)
        listener_.on_changes(read->what);
}

}  // namespace restante
