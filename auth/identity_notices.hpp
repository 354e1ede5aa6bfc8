#pragma once

#include "core/ids.hpp"
#include "core/shard_board.hpp"

#include <boost/asio/ip/address.hpp>

namespace restante {

// What a shard learns about tokens and workspaces from the others. Every call comes on the listener's own
// thread; it must be quick and must not throw.
class identity_listener {
public:
    virtual ~identity_listener() = default;
    virtual void on_token_revoked(const uuid&) noexcept {}
    // Registered again: its mode or url may be another.
    virtual void on_workspace_changed(const uuid&) noexcept {}
    // Its tokens are revoked with it.
    virtual void on_workspace_removed(const uuid&) noexcept {}
    virtual void on_wrong_token(const asio::ip::address&) noexcept {}
};

// Notifies every shard of this process, the sending one included. A client that sends its next request after
// it has the answer to the one that caused the notice meets shards that know.
class identity_notices {
public:
    void subscribe(executor home, identity_listener& listener) { board_.subscribe(home, listener); }

    // `except` is a listener that passes a notice on from elsewhere; it must not get it back.
    void token_revoked(const uuid& token, const identity_listener* except = nullptr) const;
    void workspace_changed(const uuid& workspace, const identity_listener* except = nullptr) const;
    void workspace_removed(const uuid& workspace, const identity_listener* except = nullptr) const;
    // The listener that noticed it has counted it already.
    void wrong_token(const asio::ip::address& from, const identity_listener& noticed_by) const;

private:
    shard_board<identity_listener> board_;
};

}  // namespace restante
