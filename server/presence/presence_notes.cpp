#include "server/presence/presence_notes.hpp"

namespace restante {

namespace {

std::size_t text_of(const std::optional<heartbeat>& said)
{
    if (!said)
        return 0;
    const auto& report = said->report;
    return report.sample_error.size() + report.current_task.size() + report.runtime_state.size();
}

}  // namespace

void presence_notes::note(const uuid& workspace, clock::time_point now, const heartbeat* beat)
{
    const auto at = known_.find(workspace);
    if (at == known_.end())
        return begin(workspace, now, beat);
    auto& known = at->second;
    known.seen = now;
    known.held = true;
    bool news = now - known.written >= interval_ - interval_ / 4;
    if (beat) {
        known.beat_held = true;
        if (known.said && known.said->report == beat->report) {
            known.said->uptime_seconds = beat->uptime_seconds;
        } else {
            news = true;
            text_ -= text_of(known.said);
            known.said = *beat;
            text_ += text_of(known.said);
        }
        news = news || known.outdated;
    }
    if (news)
        write(*at);
    if (text_ > max_text && !known.held)
        drop(at);
}

void presence_notes::begin(const uuid& workspace, clock::time_point now, const heartbeat* beat)
{
    if (!put_due(workspace, now, beat))
        return;
    if (known_.size() >= max_known || text_ > max_text)
        return;
    entry fresh{.seen = now, .written = now};
    if (beat)
        fresh.said = *beat;
    text_ += text_of(fresh.said);
    known_.emplace(workspace, std::move(fresh));
    written_.emplace(now, workspace);
}

bool presence_notes::put_due(const uuid& workspace, clock::time_point seen, const heartbeat* beat)
{
    auto* due = find_or_add_due(workspace);
    if (!due)
        return false;
    due->seen = seen;
    if (beat) {
        due->uptime = beat->uptime_seconds;
        due->report = beat->report;
    }
    return true;
}

presence_notes::pending* presence_notes::find_or_add_due(const uuid& workspace)
{
    const auto at = due_.find(workspace);
    if (at != due_.end())
        return &at->second;
    if (due_.size() >= max_due)
        return nullptr;
    return &due_[workspace];
}

bool presence_notes::write(entries::value_type& which)
{
    auto& [workspace, known] = which;
    const auto* beat = known.beat_held && known.said ? &*known.said : nullptr;
    if (!put_due(workspace, known.seen, beat))
        return false;
    known.held = known.beat_held = false;
    known.outdated = known.outdated && !beat;
    auto place = written_.extract({known.written, workspace});
    known.written = place.value().first = known.seen;
    written_.insert(std::move(place));
    return true;
}

// A workspace that was silent for a whole interval is forgotten; its last sign has been written.
void presence_notes::end_windows(clock::time_point now)
{
    while (!written_.empty() && written_.begin()->first + interval_ <= now) {
        const auto at = known_.find(written_.begin()->second);
        if (!at->second.held)
            drop(at);
        else if (!write(*at))
            return;  // too much is due already; the next write comes soon
    }
}

std::vector<presence_sign> presence_notes::take(clock::time_point now)
{
    end_windows(now);
    std::vector<presence_sign> signs;
    signs.reserve(due_.size());
    for (auto& [workspace, sign] : due_)
        signs.push_back({.workspace = workspace,
                         .age = std::chrono::duration_cast<std::chrono::milliseconds>(now - sign.seen),
                         .uptime_seconds = sign.uptime,
                         .report = std::move(sign.report)});
    due_.clear();
    return signs;
}

void presence_notes::give_back(std::vector<presence_sign> unwritten, clock::time_point now)
{
    for (auto& sign : unwritten) {
        auto* due = find_or_add_due(sign.workspace);
        if (!due) {
            forget(sign.workspace);  // lost, so its next sign is written
            continue;
        }
        if (due->seen == clock::time_point{})
            due->seen = now - sign.age;
        if (!due->uptime)
            due->uptime = sign.uptime_seconds;
        if (!due->report)
            due->report = std::move(sign.report);
    }
}

void presence_notes::on_workspace_changed(const uuid& workspace) noexcept
{
    if (const auto at = known_.find(workspace); at != known_.end())
        at->second.outdated = true;
}

void presence_notes::forget(const uuid& workspace) noexcept
{
    if (const auto at = known_.find(workspace); at != known_.end())
        drop(at);
}

void presence_notes::drop(entries::iterator at) noexcept
{
    written_.erase({at->second.written, at->first});
    text_ -= text_of(at->second.said);
    known_.erase(at);
}

}  // namespace restante
