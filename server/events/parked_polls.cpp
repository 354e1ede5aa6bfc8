#include "server/events/parked_polls.hpp"

namespace restante {

namespace {
constexpr auto safety_interval = std::chrono::seconds(5);
}

parked_polls::parked_polls(executor ex, activity_feed& feed, metrics& counts)
    : ex_(ex),
      feed_(feed),
      parked_(counts.gauge("molecule_parked_polls", "Long polls that wait for a row.")),
      looks_(ex)
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

awaitable<void> parked_polls::run_safety_look(task_group& tasks)
{
    const task_group::stop_callback on_stop(tasks, [this] { looks_.notify_all(); });
    while (!tasks.stop_requested()) {
        if (!look_wanted_)
            co_await looks_.wait_until(std::chrono::steady_clock::now() + safety_interval);
        look_wanted_ = false;
        if (!lines_.empty() && !tasks.stop_requested())
            co_await look_at_heads();
    }
}

void parked_polls::look_now()
{
    look_wanted_ = true;
    looks_.notify_all();
}

awaitable<void> parked_polls::look_at_heads()
{
    std::vector<uuid> workspaces;
    for (const auto& [workspace, waiting] : lines_)
        workspaces.push_back(workspace);
    const auto heads = co_await feed_.heads(workspaces);
    if (!heads)
        co_return;  // the database is away; the next look will tell
    for (const auto& head : *heads)
        wake(head.workspace, head.seq);
}

}  // namespace restante
