// The side of the hub that reads from the database: rows that other servers have committed.
#include "core/log.hpp"
#include "server/events/hub.hpp"

#include <algorithm>

namespace restante {

namespace {

// A listener that has taken everything so far takes what one read brings, even if all of it are messages,
// which come twice: as a row and as words.
static_assert(2 * feed_tail::max_bytes + 4096 * feed_tail::most_rows_each <= event_queue::max_bytes);

// Confirmations of this process's own commits may overtake each other by a moment, and several doorbells may
// come at once: a short wait saves reading what arrives by itself.
constexpr auto settling_time = std::chrono::milliseconds(5);
constexpr auto pause_after_failure = std::chrono::milliseconds(250);

}  // namespace

void hub::read_if_behind(const uuid& workspace, stream& which)
{
    if (which.waits_for_read || !which.order.behind())
        return;
    which.waits_for_read = true;
    behind_.push_back(workspace);
    reading_.notify_all();
}

// The streams that wait longest; those that have caught up by themselves meanwhile are left out.
std::vector<activity_head> hub::take_behind()
{
    std::vector<activity_head> cursors;
    std::size_t looked_at = 0;
    for (; looked_at < behind_.size() && cursors.size() < static_cast<std::size_t>(batch_); ++looked_at) {
        const auto& workspace = behind_[looked_at];
        const auto found = streams_.find(workspace);
        if (found == streams_.end())
            continue;
        found->second.waits_for_read = false;
        if (found->second.order.behind())
            cursors.push_back({workspace, found->second.order.last()});
    }
    behind_.erase(behind_.begin(), behind_.begin() + static_cast<std::ptrdiff_t>(looked_at));
    return cursors;
}

awaitable<void> hub::run_catch_up(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { reading_.notify_all(); });
    while (!tasks.stop_requested()) {
        if (behind_.empty()) {
            co_await reading_.wait();
            continue;
        }
        if (co_await tasks.stopped_within(settling_time))
            co_return;
        const bool read = co_await read_batch();
        if (!read)
            co_await tasks.stopped_within(pause_after_failure);
    }
}

awaitable<bool> hub::read_batch()
{
    const auto cursors = take_behind();
    if (cursors.empty())
        co_return true;
    std::vector<std::int64_t> known;
    known.reserve(cursors.size());
    for (const auto& cursor : cursors)
        known.push_back(streams_[cursor.workspace].order.known());

    const auto read = co_await feed_.read_after(cursors, batch_);
    bool understood = read.has_value();
    for (int i = 0; understood && i < read->rows.size(); ++i) {
        const auto row = read->rows[i];
        understood = row.has_value();
        if (understood)
            accept(*row);
    }
    // What is committed can be read, unless retention has taken it already; or it did not fit into this read.
    const bool complete = understood && read->complete;
    // Rows that do not fit cost the database their reading all the same: fewer are asked for.
    batch_ = complete ? std::min(2 * batch_, feed_tail::most_rows_each) : 1;
    // Those that had nothing from this read come first in the next one, or large rows of one workspace could
    // keep the others waiting.
    for (const bool advanced : {false, true}) {
        for (std::size_t i = 0; i < cursors.size(); ++i) {
            const auto found = streams_.find(cursors[i].workspace);
            if (found == streams_.end() || (found->second.order.last() != cursors[i].seq) != advanced)
                continue;
            if (complete && !advanced && found->second.order.is_open()) {
                found->second.order.nothing_up_to(known[i], ready_);
                deliver(found->second);
            }
            read_if_behind(found->first, found->second);
        }
    }
    co_return understood;
}

void hub::accept(const feed_row& row)
{
    const auto found = streams_.find(row.workspace_id);
    if (found == streams_.end() || !found->second.order.is_open())
        return;
    make_room(frame_size(row));
    found->second.order.accept(make_event(row, memory_), ready_);
    deliver(found->second);
}

void hub::begin_head_check()
{
    last_before_check_.clear();
    for (const auto& [workspace, of] : streams_)
        if (of.order.is_open())
            last_before_check_.emplace(workspace, of.order.last());
}

void hub::add_followed(std::vector<uuid>& to) const
{
    for (const auto& [workspace, of] : streams_)
        to.push_back(workspace);
}

void hub::on_head(const activity_head& head)
{
    stream* const of = find_or_follow(head.workspace);
    if (!of || !of->order.is_open())
        return;
    const auto before = last_before_check_.find(head.workspace);
    // What was delivered before the check must be there, unless an older state of the database was restored.
    if (before != last_before_check_.end() && head.seq < before->second) {
        log_line(log_level::warn, "feed_went_back")
            .field("workspace_id", head.workspace)
            .field("seq", head.seq);
        of->order.restart_at(head.seq);
        for (auto& listener : of->listeners)
            if (listener.who().may_learn_of(std::nullopt))
                listener.rewind(head.seq);
    }
    of->order.note_head(head.seq);
    read_if_behind(head.workspace, *of);
}

}  // namespace restante
