#include "auth/token_cache.hpp"

namespace restante {

std::variant<token_cache::unknown, token_cache::wrong, token_owner> token_cache::find(const digest32& hash,
                                                                                      clock::time_point now)
{
    if (const auto* kept = right_.find(hash, now); kept && (!kept->ends || now < *kept->ends))
        return kept->owner;
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
        kept_owner kept{*owner, std::nullopt};
        if (owner->life_left)
            kept.ends = now + *owner->life_left;
        right_.put(hash, std::move(kept), now);
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
    right_.erase_if([&](const digest32&, const kept_owner& kept) { return kept.owner.token == token; });
}

void token_cache::forget_workspace(const uuid& workspace)
{
    ++epoch_;
    right_.erase_if(
        [&](const digest32&, const kept_owner& kept) { return kept.owner.workspace.id == workspace; });
    workspaces_.erase(workspace);
}

}  // namespace restante
