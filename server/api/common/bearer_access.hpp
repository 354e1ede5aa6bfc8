#pragma once

#include "auth/authenticator.hpp"
#include "auth/standing_tokens.hpp"
#include "core/metrics.hpp"
#include "http/session/access_policy.hpp"
#include "server/api/common/peer_access.hpp"
#include "server/api/common/rejection_log.hpp"
#include "server/api/common/tokenless.hpp"

namespace restante {

// Authorises bearers of tokens, for one shard: a workspace's routes for its own tokens, as far as their scope
// goes, and every route for the admin.
class bearer_access final : public access_policy {
public:
    bearer_access(authenticator& auth, standing_tokens& standing, metric_set& metrics,
                  const tokenless_policy& without_token, const cors_policy& allowed_origins, peer_talk peers);

    // Refusals: missing_token, invalid_token, insufficient_scope, peer_not_allowed, forbidden (a message
    // under a reserved name), too_many_failed_logins, for routes of the admin missing_admin_token and
    // invalid_admin_token, those of admit_without_token() and those of the database.
    awaitable<answerable<request_caller>> authorise(const request_context& request) override;

    void set_tokenless_policy(const tokenless_policy& without_token) { without_token_ = without_token; }

    // A handler refused the caller later, because the workspace is named in the body.
    void note_rejection(const request_context& request, const error_code& why);

private:
    awaitable<answerable<principal>> decide(const request_context& request);
    awaitable<answerable<principal>> identify(const request_context& request);
    std::optional<refusal> check_route(const request_context& request, const principal& who);
    refusal refuse(const request_context& request, std::string sentence);

    authenticator& auth_;
    standing_tokens& standing_;
    rejection_log rejections_;
    tokenless_policy without_token_;
    const cors_policy& allowed_origins_;
    peer_talk peers_;
};

}  // namespace restante
