#include "auth/identity_notices.hpp"

namespace restante {

void identity_notices::token_revoked(const uuid& token, const identity_listener* except) const
{
    board_.post([token](identity_listener& listener) { listener.on_token_revoked(token); }, except);
}

void identity_notices::workspace_changed(const uuid& workspace, const identity_listener* except) const
{
    board_.post([workspace](identity_listener& listener) { listener.on_workspace_changed(workspace); },
                except);
}

void identity_notices::workspace_removed(const uuid& workspace, const identity_listener* except) const
{
    board_.post([workspace](identity_listener& listener) { listener.on_workspace_removed(workspace); },
                except);
}

void identity_notices::wrong_token(const asio::ip::address& from, const identity_listener& noticed_by) const
{
    board_.post([from](identity_listener& listener) { listener.on_wrong_token(from); }, &noticed_by);
}

}  // namespace restante
