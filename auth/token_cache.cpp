#include "auth/token_cache.hpp"

namespace restante {

std::variant<token_cache::unknown, token_cache::wrong, token_owner> token_cache::find(const digest32& hash,
                                                                                      clock::time_point now)
{
    if (const auto* owner = right_.find(hash, now))
        return *owner;
    if (wrong_.find(hash, now))
        return wrong{};
    return unknown{};
}

void token_cache::keep(const digest32& hash, const std::optional<token_owner>& owner, epoch asked_at,
                       clock::time_point now)
{
    if (!owner) {
        wrong_.put(hash, {}, now);
    } else if (asked_at == epoch_) {
        wrong_.erase(hash);
        right_.put(hash, *owner, now);
    }
}

std::optional<workspace_facts> token_cache::find_workspace(const uuid& id, clock::time_point now)
{
    const auto* facts = workspaces_.find(id, now);
    return facts ? std::optional(*facts) : std::nullopt;
}

void token_cache::keep_workspace(const workspace_facts& facts, epoch asked_at, clock::time_point now)
{
    if (asked_at == epoch_)
        workspaces_.put(facts.id, facts, now);
}

void token_cache::forget_token(const uuid& token)
{
    ++epoch_;
    right_.erase_if([&](const digest32&, const token_owner& owner) { return owner.token == token; });
}

void token_cache::forget_workspace(const uuid& workspace)
{
    ++epoch_;
    right_.erase_if(
        [&](const digest32&, const token_owner& owner) { return owner.workspace.id == workspace; });
    workspaces_.erase(workspace);
}

}  // namespace restante
