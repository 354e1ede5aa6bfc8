#pragma once

#include "auth/identity_notices.hpp"
#include "auth/principal.hpp"
#include "core/asio.hpp"
#include "core/metrics.hpp"
#include "server/events/head_check.hpp"
#include "server/events/token_watch.hpp"
#include "storage/activity.hpp"

#include <boost/intrusive/list.hpp>

#include <unordered_map>

namespace restante {

// The long polls of one shard that wait for a row. A parked poll holds its connection to the client and a
// place here, and nothing of the database. Each remembers how far it has read, so that only news wake it: ten
// thousand polls that all look again for nothing would be turned away by the database's queue.
class parked_polls final : public commit_listener,
                           public head_follower,
                           public identity_listener,
                           public token_holder {
    using hook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    static constexpr std::size_t most = 50'000;

    parked_polls(executor ex, metric_set& metrics);

    // One poll's place, for as long as it lives. Taken before the feed is read, so that a row committed
    // between the read and the wait is not missed: wait() then returns at once.
    class place : public hook {
    public:
        // The principal must outlive it.
        place(parked_polls& of, const uuid& workspace, const principal& who);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        bool granted() const { return granted_; }
        // Its token has been revoked, or its workspace removed.
        bool refused() const { return refused_; }

        // Clears the wake-ups so far: call it before the feed is read.
        void look_again() { rung_ = false; }
        // What it has read is complete up to here.
        void has_seen(std::int64_t seq) { seen_ = std::max(seen_, seq); }

        // Until woken, or until the deadline.
        awaitable<void> wait(std::chrono::steady_clock::time_point until);
        void ring();

    private:
        friend class parked_polls;
        void refuse();

        parked_polls& of_;
        uuid workspace_;
        const principal& who_;
        steady_timer timer_;
        std::int64_t seen_ = -1;
        bool granted_;
        bool rung_ = false;
        bool refused_ = false;
    };

    // Row `seq` of the workspace is visible now: wakes the polls that have not read it.
    void wake(const uuid& workspace, std::int64_t seq);
    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override
    {
        wake(row->what.workspace_id, row->seq);
    }

    void add_followed(std::vector<uuid>& to) const override;
    void on_head(const activity_head& head) override { wake(head.workspace, head.seq); }

    void on_token_revoked(const uuid& token) noexcept override;
    void on_workspace_removed(const uuid& workspace) noexcept override;
    void add_tokens(std::vector<digest32>& to) const override;
    void refuse_token(const digest32& hash) override;

private:
    template <class Predicate>
    void refuse_if(Predicate unwanted);

    using places = boost::intrusive::list<place, boost::intrusive::constant_time_size<false>>;

    executor ex_;
    metric_set::number& parked_;
    std::unordered_map<uuid, places, uuid_hash> lines_;
    std::size_t count_ = 0;
};

}  // namespace restante
