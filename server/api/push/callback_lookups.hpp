#pragma once

#include "auth/expiring_map.hpp"
#include "auth/identity_notices.hpp"
#include "core/asio.hpp"
#include "core/clock.hpp"
#include "http/client/address_policy.hpp"
#include "http/client/http_url.hpp"
#include "http/message/public_errors.hpp"

#include <memory>

namespace restante {

class workspace_store;

// Where a workspace is called, and what proves that it is we who call.
struct callback {
    http_url url;
    std::string secret;
};

// A shard's callbacks, remembered for 5 s like its tokens. A workspace that registers again in this process
// is asked for again.
class callback_lookups final : public identity_listener {
public:
    callback_lookups(workspace_store& known, const address_policy& allowed, const clock& time = real_clock());

    // Refusals: workspace_not_found, callback_url_missing, callback_url_not_allowed, workspace_reregistering
    // (it had no secret; now it has one and learns of it when it registers next), and errors of the database.
    awaitable<answerable<std::shared_ptr<const callback>>> find(uuid workspace);

    void on_workspace_changed(const uuid& workspace) noexcept override { forget(workspace); }
    void on_workspace_removed(const uuid& workspace) noexcept override { forget(workspace); }

private:
    void forget(const uuid& workspace) noexcept;

    workspace_store& known_;
    address_policy allowed_;
    const clock& time_;
    expiring_map<uuid, std::shared_ptr<const callback>> recent_;
    std::uint64_t changes_ = 0;  // what was asked for before one may be outdated and is not kept
};

}  // namespace restante
