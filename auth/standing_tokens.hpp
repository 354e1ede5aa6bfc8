#pragma once

#include "auth/expiring_map.hpp"
#include "auth/identity_notices.hpp"
#include "auth/principal.hpp"
#include "core/asio.hpp"
#include "core/error.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace restante {

class task_group;
class token_store;

// The tokens of agents that come back every half minute: too seldom for a cache of 5 s, and too many to look
// up each time. They are remembered for ten minutes, and used only while the database has said within the
// last 5 s what was revoked and changed, so that a revocation holds as quickly as everywhere.
class standing_tokens final : public identity_listener {
public:
    static constexpr auto lifetime = std::chrono::minutes(10);
    static constexpr auto trusted_for = std::chrono::seconds(5);
    // The database is asked for the changes of its last minute. After a longer silence than this, some that
    // took a while to commit may not be among them, and nothing that was remembered is used any more.
    static constexpr auto longest_silence = std::chrono::seconds(30);
    static constexpr std::size_t capacity = 50'000;

    struct holder {
        principal who;
        std::string inbound_secret;  // of its workspace
        bool has_card = false;       // the workspace, or an agent whose card cannot be stored
    };

    // nullptr if it is not known, or cannot be trusted now; valid until the next change.
    const holder* find(const digest32& hash, clock::time_point now);

    // What was asked for before something was forgotten may be outdated, and is not kept; nor is a token that
    // ends at a time of its own.
    using epoch = std::uint64_t;
    epoch current_epoch() const { return epoch_; }
    void keep(const holder& who, epoch asked_at, clock::time_point now);

    // The database said, when it was asked at `asked`, that these are all that may have changed.
    void apply(const std::vector<uuid>& revoked_tokens, const std::vector<uuid>& changed_workspaces,
               clock::time_point asked);

    // Notices may have been missed: run_identity_watch() asks soon instead of in its own time.
    void check_soon() noexcept { wanted_ = true; }
    bool take_wanted() noexcept { return std::exchange(wanted_, false); }

    void on_token_revoked(const uuid& token) noexcept override { doubt(token); }
    void on_workspace_changed(const uuid& workspace) noexcept override { doubt(workspace); }
    void on_workspace_removed(const uuid& workspace) noexcept override { doubt(workspace); }

private:
    void doubt(const uuid& changed) noexcept;
    void forget(const std::set<uuid>& changed);
    void forget_all() noexcept;

    expiring_map<digest32, holder> known_{lifetime, capacity};
    // Tokens and workspaces that are not trusted since the last apply(), which forgets them all in one pass.
    std::set<uuid> doubted_;
    clock::time_point asked_{};  // the last time that it answered
    clock::time_point trusted_until_{};
    bool wanted_ = false;
    epoch epoch_ = 0;
};

// Asks for changes every 2 s, or sooner when that is wanted; ends when the group is asked to stop. While the
// database cannot be asked, the tokens are not trusted, and each is looked up.
awaitable<void> run_identity_watch(standing_tokens& known, token_store& tokens, task_group& tasks,
                                   const clock& time = real_clock());

}  // namespace restante
