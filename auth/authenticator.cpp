#include "auth/authenticator.hpp"

namespace restante {

authenticator::authenticator(executor ex, token_store& tokens, workspace_store& known,
                             const identity_notices& board, const std::string& admin_token, const clock& time)
    : known_(known),
      board_(board),
      time_(time),
      lookups_(ex, [&tokens](std::span<const digest32> hashes) { return tokens.find(hashes); })
{
    set_admin_token(admin_token);
}

bool authenticator::set_admin_token(const std::string& token)
{
    const auto before = admin_;
    admin_ = token.empty() ? std::nullopt : std::optional(hash_token(token));
    return admin_ != before;
}

awaitable<result<principal>> authenticator::identify(bearer given, asio::ip::address from,
                                                     removed_workspaces gone)
{
    if (given.kind == bearer_kind::none)
        co_return RESTANTE_ERROR(errc::missing_token);
    if (given.kind == bearer_kind::malformed)
        co_return refuse(from);

    const auto hash = hash_token(given.token);
    if (is_admin(hash))
        co_return principal{.kind = principal_kind::admin, .token_hash = hash};
    if (!looks_like_workspace_token(given.token))
        co_return refuse(from);

    const auto owner = co_await find(hash);
    if (!owner)
        co_return owner.error();
    if (!*owner || ((*owner)->workspace.removed && gone == removed_workspaces::refuse))
        co_return refuse(from);
    notes_.note((*owner)->token, time_.now());
    co_return principal{.kind = principal_kind::workspace,
                        .scope = (*owner)->scope,
                        .token = (*owner)->token,
                        .token_hash = hash,
                        .workspace = (*owner)->workspace,
                        .ends = (*owner)->life_left.has_value(),
                        .grant = (*owner)->grant};
}

error_code authenticator::refuse(const asio::ip::address& from)
{
    const bool too_many = failures_.note(from, time_.now());
    board_.wrong_token(from, *this);
    if (too_many)
        return RESTANTE_ERROR(errc::too_many_failed_logins);
    return RESTANTE_ERROR(errc::invalid_token);
}

awaitable<result<std::optional<token_owner>>> authenticator::find(digest32 hash)
{
    const auto cached = cache_.find(hash, time_.now());
    if (const auto* owner = std::get_if<token_owner>(&cached))
        co_return *owner;
    if (std::holds_alternative<token_cache::wrong>(cached))
        co_return std::nullopt;

    // Taken before the query: a result that is older than a revocation must not be cached.
    const auto asked_at = cache_.current_epoch();
    const auto asked_when = time_.now();
    auto owner = co_await lookups_.find(hash);
    if (owner)
        cache_.keep(hash, *owner, asked_at, asked_when);
    co_return owner;
}

awaitable<result<workspace_facts>> authenticator::workspace_for(const principal& who, uuid workspace)
{
    if (who.kind == principal_kind::workspace && who.workspace.id == workspace)
        co_return who.workspace;
    if (const auto cached = cache_.find_workspace(workspace, time_.now()))
        co_return *cached;

    const auto asked_at = cache_.current_epoch();
    const auto asked_when = time_.now();
    auto facts = co_await known_.find(workspace);
    if (facts)
        cache_.keep_workspace(*facts, asked_at, asked_when);
    co_return facts;
}

awaitable<result<void>> authenticator::still_valid(const principal& who)
{
    if (who.kind == principal_kind::admin && !is_admin(who.token_hash))
        co_return RESTANTE_ERROR(errc::invalid_token);
    if (who.kind != principal_kind::workspace)
        co_return result<void>();
    const auto hash = who.token_hash;
    const auto owner = co_await find(hash);
    if (!owner)
        co_return owner.error();
    if (!*owner || (*owner)->workspace.removed)
        co_return RESTANTE_ERROR(errc::invalid_token);
    co_return result<void>();
}

}  // namespace restante
