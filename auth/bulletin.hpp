#pragma once

#include "core/asio.hpp"
#include "core/ids.hpp"

#include <boost/asio/ip/address.hpp>

#include <vector>

namespace restante {

// What a shard hears of the others. Every call comes on its own thread; it must be quick and must not throw.
class bulletin_reader {
public:
    virtual ~bulletin_reader() = default;
    virtual void on_token_revoked(const uuid&) noexcept {}
    // Registered again: its mode or url may be another.
    virtual void on_workspace_changed(const uuid&) noexcept {}
    // Its tokens are revoked with it.
    virtual void on_workspace_removed(const uuid&) noexcept {}
    virtual void on_wrong_token(const asio::ip::address&) noexcept {}
};

// Tells every shard of this process, the announcing one included, by posting to it. Whoever sends a request
// after having seen the answer to the one that announced meets shards that know.
class bulletin_board {
public:
    // Before the shards run; readers live as long as their shards do.
    void subscribe(executor home, bulletin_reader& reader) { readers_.push_back({home, &reader}); }

    // `except` is for a reader that has passed the news on from elsewhere, so that it does not come back to
    // it.
    void token_revoked(const uuid& token, const bulletin_reader* except = nullptr) const;
    void workspace_changed(const uuid& workspace, const bulletin_reader* except = nullptr) const;
    void workspace_removed(const uuid& workspace, const bulletin_reader* except = nullptr) const;
    // The one who noticed has counted it already.
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
