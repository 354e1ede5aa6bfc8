#pragma once

#include "auth/authenticator.hpp"
#include "core/metrics.hpp"
#include "http/session/access_policy.hpp"
#include "server/api/rejection_log.hpp"

namespace restante {

// Opens doors to bearers of tokens, for one shard: a workspace's own to its tokens, every one to the admin.
class bearer_access final : public access_policy {
public:
    bearer_access(authenticator& auth, metrics& counts, bool registration_open);

    awaitable<result<principal>> authorise(const request_context& request) override;
    void note_rejection(const request_context& request, const error_code& why) override;

private:
    awaitable<result<principal>> decide(const request_context& request);
    awaitable<result<principal>> decide_registration(const request_context& request, bearer given);

    authenticator& auth_;
    rejection_log rejections_;
    bool registration_open_;
};

}  // namespace restante
