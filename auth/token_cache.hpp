#pragma once

#include "auth/expiring_map.hpp"
#include "core/sha256.hpp"
#include "storage/tokens.hpp"

#include <optional>
#include <variant>

namespace restante {

// A shard's cache of recent lookups: valid tokens for 5 s or until they end, wrong ones for 1 s, workspaces
// looked up by id for 5 s. So a revocation takes effect everywhere within 5 s even without a notice.
//
// At most 10,000 tokens are kept. Wrong ones have their own part of the cache: however many arrive, they
// cannot evict a valid one.
class token_cache {
public:
    static constexpr auto right_lifetime = std::chrono::seconds(5);
    static constexpr auto wrong_lifetime = std::chrono::seconds(1);
    static constexpr std::size_t right_capacity = 9'000;
    static constexpr std::size_t wrong_capacity = 1'000;

    // Counts invalidations. A query result requested before an invalidation may be older than the revocation,
    // so it is not cached.
    using epoch = std::uint64_t;
    epoch current_epoch() const { return epoch_; }

    struct unknown {};
    struct wrong {};
    std::variant<unknown, wrong, token_owner> find(const digest32& hash, clock::time_point now);
    void keep(const digest32& hash, const std::optional<token_owner>& owner, epoch asked_at,
              clock::time_point now);

    std::optional<workspace_facts> find_workspace(const uuid& id, clock::time_point now);
    void keep_workspace(const workspace_facts& facts, epoch asked_at, clock::time_point now);

    void forget_token(const uuid& token);
    // The workspace has changed or was removed: drops the workspace and all of its tokens.
    void forget_workspace(const uuid& workspace);

    std::size_t size() const { return right_.size() + wrong_.size(); }

private:
    struct kept_owner {
        token_owner owner;
        std::optional<clock::time_point> ends;  // by its own time; then the database is asked again
    };

    expiring_map<digest32, kept_owner> right_{right_lifetime, right_capacity};
    expiring_map<digest32, std::monostate> wrong_{wrong_lifetime, wrong_capacity};
    expiring_map<uuid, workspace_facts> workspaces_{right_lifetime, right_capacity};
    epoch epoch_ = 0;
};

}  // namespace restante
