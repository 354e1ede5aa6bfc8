#pragma once

#include "auth/bearer.hpp"
#include "auth/failure_limiter.hpp"
#include "auth/identity_notices.hpp"
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

// Identifies the holder of a bearer token, for one shard. A token that this shard verified in the last
// seconds costs no query; any other costs one, and a malformed one costs none.
//
// Database errors are returned unchanged: a token that we cannot verify is not treated as invalid.
class authenticator final : public identity_listener {
public:
    // Whoever owns it subscribes it to the board, before the shards run. Without an admin token there is no
    // admin.
    authenticator(executor ex, token_store& tokens, workspace_store& known, const identity_notices& board,
                  const std::string& admin_token, const clock& time = real_clock());

    // Whether a token of a removed workspace still identifies it. Only registration needs this, to answer
    // "gone" instead of "wrong".
    enum class removed_workspaces { refuse, tell };

    // Errors: missing_token, invalid_token, too_many_failed_logins.
    awaitable<result<principal>> identify(bearer given, asio::ip::address from,
                                          removed_workspaces gone = removed_workspaces::refuse);

    // A valid token used where it gives no access counts, and is answered, as a wrong one: invalid_token, or
    // too_many_failed_logins for the 21st in 10 s.
    error_code refuse(const asio::ip::address& from);

    // The facts of the workspace on whose behalf this principal acts. No query for one of its own tokens, nor
    // within 5 s of the last one. Errors: workspace_not_found (unknown or removed).
    awaitable<result<workspace_facts>> workspace_for(const principal& who, uuid workspace);

    // For connections that outlive the request that carried the token: open sockets and parked polls. Call it
    // at least every 5 s, and subscribe to identity_notices for revocations that this process learns of
    // earlier. Errors: invalid_token (no longer valid).
    awaitable<result<void>> still_valid(const principal& who);

    // Whoever held the old one is nobody from now on. Empty: there is no admin. Returns whether it is another
    // one than before.
    bool set_admin_token(const std::string& token);

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
    token_cache cache_;
    token_lookups lookups_;
    failure_limiter failures_;
    last_used_notes notes_;
};

}  // namespace restante
