#pragma once

#include "auth/authenticator.hpp"
#include "core/metrics.hpp"
#include "http/session/access_policy.hpp"
#include "server/api/common/rejection_log.hpp"
#include "server/api/common/tokenless.hpp"

namespace restante {

// Authorises bearers of tokens, for one shard: a workspace's routes for its own tokens, every route for the
// admin.
class bearer_access final : public access_policy {
public:
    bearer_access(authenticator& auth, metric_set& metrics, const tokenless_policy& without_token,
                  const cors_policy& allowed_origins);

    // Errors: missing_token, invalid_token, too_many_failed_logins, those of admit_without_token() and those
    // of the database.
    awaitable<result<request_caller>> authorise(const request_context& request) override;

    // A handler refused the caller later, because the workspace is named in the body.
    void note_rejection(const request_context& request, const error_code& why);

private:
    static bearer offered_bearer(const request_context& request);
    awaitable<result<principal>> decide(const request_context& request);

    authenticator& auth_;
    rejection_log rejections_;
    tokenless_policy without_token_;
    const cors_policy& allowed_origins_;
};

}  // namespace restante
