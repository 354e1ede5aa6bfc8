#pragma once

#include "auth/bearer.hpp"
#include "auth/identity_notices.hpp"
#include "auth/failure_limiter.hpp"
#include "auth/last_used.hpp"
#include "auth/principal.hpp"
#include "auth/token.hpp"
#include "auth/token_cache.hpp"
#include "auth/token_lookups.hpp"
#include "core/clock.hpp"
#include "storage/tokens.hpp"
#include "storage/workspaces.hpp"

#include <optional>
#include <string>

namespace restante {

struct authenticator_options {
    std::string admin_token;  // empty: nobody is admin
    bool dev = false;
};

// Tells who holds a bearer, for one shard. A token that this shard saw in the last seconds costs no query;
// any other costs one, and a malformed one never gets that far.
//
// Errors of the database pass through as they are: whoever cannot be asked about is not refused.
class authenticator final : public identity_listener {
public:
    // Whoever owns it subscribes it to the board, before the shards run.
    authenticator(executor ex, token_store& tokens, workspace_store& known, const identity_notices& board,
                  const authenticator_options& options, const clock& time = real_clock());

    // Whether a token of a removed workspace still tells whose it was. Only registration wants to know, to
    // say "gone" instead of "wrong".
    enum class removed_workspaces { refuse, tell };

    // Errors: missing_token, invalid_token, too_many_failed_logins.
    awaitable<result<principal>> identify(bearer given, asio::ip::address from,
                                          removed_workspaces gone = removed_workspaces::refuse);

    // A right token that opens another door counts, and is told, as a wrong one: invalid_token, or
    // too_many_failed_logins for the 21st in 10 s.
    error_code refuse(const asio::ip::address& from);

    // What is known of the workspace that this principal works for. No query for one of its own tokens, nor
    // within 5 s of the last one. Errors: workspace_not_found (unknown or removed).
    awaitable<result<workspace_facts>> workspace_for(const principal& who, uuid workspace);

    // For whoever outlives the request that brought the token: open sockets and parked polls. Ask at least
    // every 5 s, and listen to the notices for what this process hears earlier. Errors: invalid_token (no
    // longer).
    awaitable<result<void>> still_valid(const principal& who);

    last_used_notes& notes() { return notes_; }

    void on_token_revoked(const uuid& token) noexcept override { cache_.forget_token(token); }
    void on_workspace_changed(const uuid& workspace) noexcept override { cache_.forget_workspace(workspace); }
    void on_workspace_removed(const uuid& workspace) noexcept override { cache_.forget_workspace(workspace); }
    void on_wrong_token(const asio::ip::address& from) noexcept override
    {
        failures_.note(from, time_.now());
    }

private:
    awaitable<result<std::optional<token_owner>>> find(digest32 hash);
    bool is_admin(const digest32& hash) const { return admin_ && same_token(*admin_, hash); }

    workspace_store& known_;
    const identity_notices& board_;
    const clock& time_;
    std::optional<digest32> admin_;
    bool dev_;
    token_cache cache_;
    token_lookups lookups_;
    failure_limiter failures_;
    last_used_notes notes_;
};

}  // namespace restante
