#include "server/events/parked_polls.hpp"

namespace restante {

parked_polls::parked_polls(executor ex, metric_set& metrics)
    : ex_(ex), parked_(metrics.gauge("molecule_parked_polls", "Long polls that wait for a row."))
{
}

parked_polls::place::place(parked_polls& of, const uuid& workspace)
    : of_(of), workspace_(workspace), timer_(of.ex_), granted_(of.count_ < most)
{
    if (!granted_)
        return;
    of_.lines_[workspace_].push_back(*this);
    of_.parked_.set(static_cast<double>(++of_.count_));
}

parked_polls::place::~place()
{
    if (!granted_)
        return;
    unlink();
    const auto at = of_.lines_.find(workspace_);
    if (at->second.empty())
        of_.lines_.erase(at);
    of_.parked_.set(static_cast<double>(--of_.count_));
}

awaitable<void> parked_polls::place::wait(std::chrono::steady_clock::time_point until)
{
    if (rung_)
        co_return;
    timer_.expires_at(until);
    co_await timer_.async_wait(use_tuple);
}

void parked_polls::place::ring()
{
    rung_ = true;
    timer_.cancel();
}

void parked_polls::wake(const uuid& workspace, std::int64_t seq)
{
    const auto at = lines_.find(workspace);
    if (at == lines_.end())
        return;
    for (auto& waiting : at->second) {
        if (waiting.seen_ >= seq)
            continue;
        waiting.seen_ = seq;
        waiting.ring();
    }
}

void parked_polls::add_followed(std::vector<uuid>& to) const
{
    for (const auto& [workspace, waiting] : lines_)
        to.push_back(workspace);
}

}  // namespace restante
