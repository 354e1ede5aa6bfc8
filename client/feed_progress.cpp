#include "client/feed_progress.hpp"

#include <algorithm>

namespace restante::client {

void feed_progress::add(std::vector<feed_row> rows, const delivered& before)
{
    for (auto& row : rows) {
        read_up_to_ = row.id;
        if (!known_.insert(row.id).second)
            continue;
        auto added = std::make_shared<entry>();
        const bool nothing_to_do = (!row.file && !row.message) || before(row.id);
        added->row = std::move(row);
        if (nothing_to_do)
            added->now = state::done;
        else
            ++unfinished_;
        entries_.push_back(std::move(added));
    }
    drop_done();
}

amount feed_progress::waiting() const
{
    amount out;
    for (const auto& each : entries_)
        if (each->row.file && (each->now == state::waiting || each->now == state::later)) {
            ++out.files;
            out.bytes += each->row.file->size;
        }
    return out;
}

bool feed_progress::is_settled() const
{
    const auto settled = [](const auto& e) { return e->now == state::done || e->now == state::failed; };
    return std::all_of(entries_.begin(), entries_.end(), settled);
}

std::shared_ptr<feed_progress::entry> feed_progress::start_next(clock::time_point now, bool files_allowed)
{
    bool blocked = false;
    for (const auto& each : entries_) {
        const bool due =
            each->now == state::waiting ||
            ((each->now == state::later || each->now == state::failed) && each->not_before <= now);
        if (due && (each->row.file ? files_allowed : !blocked)) {
            each->now = state::running;
            return each;
        }
        blocked = blocked || (each->now != state::done && each->now != state::failed);
    }
    return nullptr;
}

feed_progress::clock::time_point feed_progress::next_try(clock::time_point now) const
{
    auto soonest = clock::time_point::max();
    for (const auto& each : entries_)
        if ((each->now == state::later || each->now == state::failed) && each->not_before > now)
            soonest = std::min(soonest, each->not_before);
    return soonest;
}

void feed_progress::finish(entry& which)
{
    which.now = state::done;
    which.row.json.clear();
    --unfinished_;
    drop_done();
}

void feed_progress::postpone(entry& which, clock::time_point until, bool blocking)
{
    which.now = blocking ? state::later : state::failed;
    which.not_before = until;
}

void feed_progress::drop_done()
{
    while (!entries_.empty() && entries_.front()->now == state::done) {
        cursor_ = entries_.front()->row.id;
        cursor_moved_ = true;
        known_.erase(*cursor_);
        entries_.pop_front();
    }
}

std::optional<uuid> feed_progress::take_cursor()
{
    if (!std::exchange(cursor_moved_, false))
        return std::nullopt;
    return cursor_;
}

}  // namespace restante::client
