#include "storage/group_commit.hpp"

#include <algorithm>

namespace restante {

bool group_commit::is_isolated(const uuid& workspace, clock::time_point now) const
{
    const auto found = isolated_until_.find(workspace);
    return found != isolated_until_.end() && now < found->second;
}

bool group_commit::may_start(bool isolated) const
{
    return isolated ? isolated_ == 0 : shared_ < limits_.transactions;
}

void group_commit::start(const request& leader, bool isolated)
{
    ++(isolated ? isolated_ : shared_);
    leaders_.emplace(leader.who, isolated);
}

group_commit::lines::iterator group_commit::find(const uuid& workspace)
{
    return std::find_if(lines_.begin(), lines_.end(),
                        [&](const line& each) { return each.workspace == workspace; });
}

group_commit::verdict group_commit::join(const request& next, clock::time_point now)
{
    const bool isolated = is_isolated(next.workspace, now);
    const auto mine = find(next.workspace);
    if (mine == lines_.end() && may_start(isolated)) {
        start(next, isolated);
        return verdict::lead;
    }
    const std::size_t queued = mine == lines_.end() ? 0 : mine->requests.size();
    if (waiting_ >= limits_.waiting || queued >= limits_.waiting_each)
        return verdict::refuse;
    if (mine == lines_.end())
        lines_.push_back({next.workspace, {next}});
    else
        mine->requests.push_back(next);
    ++waiting_;
    return verdict::wait;
}

// Takes a workspace's first request and puts the workspace at the end of the order of turns.
group_commit::request group_commit::take_first(lines::iterator from)
{
    const request first = from->requests.front();
    from->requests.pop_front();
    --waiting_;
    if (from->requests.empty())
        lines_.erase(from);
    else
        lines_.splice(lines_.end(), lines_, from);
    return first;
}

std::vector<group_commit::ticket> group_commit::form_group(const request& leader, clock::time_point now)
{
    std::vector<ticket> group{leader.who};
    std::uint64_t bytes = leader.bytes;
    const bool isolated = leaders_.at(leader.who);
    const auto fits = [&](const line& each) {
        const bool joins = isolated ? each.workspace == leader.workspace : !is_isolated(each.workspace, now);
        return joins && bytes + each.requests.front().bytes <= limits_.bytes;
    };
    while (group.size() < limits_.members) {
        const auto next = std::find_if(lines_.begin(), lines_.end(), fits);
        if (next == lines_.end())
            break;
        const request taken = take_first(next);
        bytes += taken.bytes;
        group.push_back(taken.who);
    }
    return group;
}

void group_commit::finish(const request& leader)
{
    const auto led = leaders_.find(leader.who);
    --(led->second ? isolated_ : shared_);
    leaders_.erase(led);
}

std::optional<group_commit::ticket> group_commit::next_leader(clock::time_point now)
{
    const auto next = std::find_if(lines_.begin(), lines_.end(), [&](const line& each) {
        return may_start(is_isolated(each.workspace, now));
    });
    if (next == lines_.end())
        return std::nullopt;
    const bool isolated = is_isolated(next->workspace, now);
    const request leader = take_first(next);
    start(leader, isolated);
    return leader.who;
}

bool group_commit::leave(ticket who)
{
    for (auto each = lines_.begin(); each != lines_.end(); ++each) {
        auto& requests = each->requests;
        const auto found =
            std::find_if(requests.begin(), requests.end(), [&](const request& r) { return r.who == who; });
        if (found == requests.end())
            continue;
        requests.erase(found);
        --waiting_;
        if (requests.empty())
            lines_.erase(each);
        return true;
    }
    return false;
}

void group_commit::isolate(const uuid& workspace, clock::time_point now)
{
    std::erase_if(isolated_until_, [&](const auto& each) { return each.second <= now; });
    isolated_until_[workspace] = now + limits_.isolation;
}

void group_commit::release(const uuid& workspace)
{
    isolated_until_.erase(workspace);
}

}  // namespace restante
