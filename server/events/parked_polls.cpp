#include "server/events/parked_polls.hpp"

namespace restante {

parked_polls::parked_polls(executor ex, metric_set& metrics)
    : ex_(ex), parked_(metrics.gauge("molecule_parked_polls", "Long polls that wait for a row."))
{
}

parked_polls::place::place(parked_polls& of, const uuid& workspace, const principal& who)
    : of_(of), workspace_(workspace), who_(who), timer_(of.ex_), granted_(of.count_ < most)
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

void parked_polls::place::refuse()
{
    refused_ = true;
    ring();
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

template <class Predicate>
void parked_polls::refuse_if(Predicate unwanted)
{
    for (auto& [workspace, waiting] : lines_)
        for (auto& each : waiting)
            if (each.who_.kind == principal_kind::workspace && unwanted(each.who_))
                each.refuse();
}

void parked_polls::on_token_revoked(const uuid& token) noexcept
{
    refuse_if([&](const principal& who) { return who.token == token; });
}

void parked_polls::on_workspace_removed(const uuid& workspace) noexcept
{
    refuse_if([&](const principal& who) { return who.workspace.id == workspace; });
}

void parked_polls::refuse_token(const digest32& hash)
{
    refuse_if([&](const principal& who) { return who.token_hash == hash; });
}

void parked_polls::add_tokens(std::vector<digest32>& to) const
{
    for (const auto& [workspace, waiting] : lines_)
        for (const auto& each : waiting)
            if (each.who_.kind == principal_kind::workspace)
                to.push_back(each.who_.token_hash);
}

}  // namespace restante
