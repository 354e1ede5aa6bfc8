#pragma once

#include "core/asio.hpp"
#include "core/ids.hpp"

#include <boost/asio/ip/address.hpp>

#include <vector>

namespace restante {

// Receives notices from other shards. Every call runs on the reader's own thread; it must be quick and must
// not throw.
class bulletin_reader {
public:
    virtual ~bulletin_reader() = default;
    virtual void on_token_revoked(const uuid&) noexcept {}
    // Registered again: its mode or url may have changed.
    virtual void on_workspace_changed(const uuid&) noexcept {}
    // Its tokens are revoked with it.
    virtual void on_workspace_removed(const uuid&) noexcept {}
    virtual void on_wrong_token(const asio::ip::address&) noexcept {}
};

// Notifies every shard of this process, including the sender, by posting to it. A client that sends another
// request after the response to the one that published a notice is served by shards that have received it.
class bulletin_board {
public:
    // Call before the shards run; readers live as long as their shards.
    void subscribe(executor home, bulletin_reader& reader) { readers_.push_back({home, &reader}); }

    // `except` is for a reader that forwards a notice from elsewhere, so that it does not receive it again.
    void token_revoked(const uuid& token, const bulletin_reader* except = nullptr) const;
    void workspace_changed(const uuid& workspace, const bulletin_reader* except = nullptr) const;
    void workspace_removed(const uuid& workspace, const bulletin_reader* except = nullptr) const;
    // The shard that detected it has already counted it.
    void wrong_token(const asio::ip::address& from, const bulletin_reader& noticed_by) const;

private:
    struct subscription {
        executor home;
        bulletin_reader* reader;
    };
    template <class Announcement>
    void post_to_all(Announcement what, const bulletin_reader* except) const;

    std::vector<subscription> readers_;
};

}  // namespace restante
