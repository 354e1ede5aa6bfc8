#include "server/events/parked_requests.hpp"

#include <algorithm>

namespace restante {

parked_requests::place::place(parked_requests& of, const uuid& about, const principal& who)
    : of_(of), about_(about), who_(who), timer_(of.ex_), granted_(of.count_ < most)
{
    if (!granted_)
        return;
    of_.lines_[about_].push_back(*this);
    of_.parked_.set(static_cast<double>(++of_.count_));
}

parked_requests::place::~place()
{
    if (!granted_)
        return;
    unlink();
    const auto at = of_.lines_.find(about_);
    if (at->second.empty())
        of_.lines_.erase(at);
    of_.parked_.set(static_cast<double>(--of_.count_));
}

awaitable<void> parked_requests::place::wait(std::chrono::steady_clock::time_point until)
{
    if (rung_)
        co_return;
    timer_.expires_at(until);
    co_await timer_.async_wait(use_tuple);
}

void parked_requests::place::ring()
{
    rung_ = true;
    timer_.cancel();
}

void parked_requests::place::refuse()
{
    refused_ = true;
    ring();
}

void parked_requests::wake(const uuid& about, std::int64_t reached)
{
    const auto at = lines_.find(about);
    if (at == lines_.end())
        return;
    for (auto& waiting : at->second) {
        if (waiting.seen_ >= reached)
            continue;
        waiting.seen_ = reached;
        waiting.ring();
    }
}

void parked_requests::add_awaited(std::vector<uuid>& to) const
{
    for (const auto& [about, waiting] : lines_)
        to.push_back(about);
}

template <class Predicate>
void parked_requests::refuse_if(Predicate unwanted)
{
    for (auto& [about, waiting] : lines_)
        for (auto& each : waiting)
            if (each.who_.kind == principal_kind::workspace && unwanted(each.who_))
                each.refuse();
}

void parked_requests::on_token_revoked(const uuid& token) noexcept
{
    refuse_if([&](const principal& who) { return who.token == token; });
}

void parked_requests::on_workspace_removed(const uuid& workspace) noexcept
{
    refuse_if([&](const principal& who) { return who.workspace.id == workspace; });
}

void parked_requests::refuse_token(const digest32& hash)
{
    refuse_if([&](const principal& who) { return who.token_hash == hash; });
}

void parked_requests::add_tokens(std::vector<digest32>& to) const
{
    for (const auto& [about, waiting] : lines_)
        for (const auto& each : waiting)
            if (each.who_.kind == principal_kind::workspace)
                to.push_back(each.who_.token_hash);
}

void parked_requests::add_agents(std::vector<uuid>& to) const
{
    for (const auto& [workspace, waiting] : lines_)
        if (std::any_of(waiting.begin(), waiting.end(),
                        [&id = workspace](const place& each) { return acts_as_agent(each.who_, id); }))
            to.push_back(workspace);
}

}  // namespace restante
