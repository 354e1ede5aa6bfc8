#include "server/api/common/access_rules.hpp"

namespace restante {

namespace {

bool includes(token_scope has, scope needed)
{
    switch (needed) {
        case scope::open:
        case scope::events:
        case scope::any_token: return true;
        case scope::registration:
        case scope::heartbeat:
        case scope::peer:
        case scope::full: return has == token_scope::full;
        case scope::profile:
        case scope::read: return has == token_scope::full || has == token_scope::read;
        case scope::message: return has == token_scope::full || has == token_scope::upload;
        case scope::upload: return has != token_scope::read;
        case scope::admin: return false;
    }
    return false;
}

// The path of the other routes names the caller's workspace. Registration and heartbeats name it in the body
// and discovery in a header, and their handlers compare; whether a workspace may look at another is the
// handler's decision too; /ws hears the token's own unless it is told otherwise.
bool names_workspace(scope needed)
{
    switch (needed) {
        case scope::open:
        case scope::registration:
        case scope::heartbeat:
        case scope::peer:
        case scope::profile:
        case scope::any_token: return false;
        default: return true;
    }
}

}  // namespace

access decide_access(scope needed, const principal& who, const uuid& workspace, peer_talk peers)
{
    if (who.opens_every_workspace())
        return access::granted;
    if (needed == scope::message && speaking_peer(who, workspace)) {
        if (peers == peer_talk::refused)
            return access::peer_not_allowed;
        return who.scope == token_scope::full ? access::granted : access::insufficient_scope;
    }
    if (needed == scope::admin || (names_workspace(needed) && !who.speaks_for(workspace)))
        return access::wrong_token;
    return includes(who.scope, needed) ? access::granted : access::insufficient_scope;
}

}  // namespace restante
