#pragma once

#include "auth/identity_notices.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "core/task_group.hpp"
#include "server/events/event_order.hpp"
#include "server/events/head_check.hpp"
#include "server/events/subscriber.hpp"
#include "storage/activity.hpp"
#include "storage/feed_tail.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace restante {

// The live subscribers of one shard. The events of each workspace with subscribers are put in order here,
// from whichever server they come: every row after the subscriber's start once, by rising seq, unless it is
// disconnected first. A commit costs one look-up when there are no subscribers, and never waits for them.
class hub final : public identity_listener, public commit_listener, public head_follower {
public:
    hub(executor ex, feed_tail& feed, metric_set& metrics);

    // A subscriber to one workspace, or to all of them. What is committed after this has returned will be
    // delivered. Errors are those of the database. The hub must outlive its subscribers.
    awaitable<result<std::unique_ptr<subscriber>>> subscribe(principal who, std::optional<uuid> workspace);

    // A commit of this process.
    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override;
    // Another server has committed rows up to this one.
    void on_remote_activity(const uuid& workspace, std::int64_t seq) noexcept;
    void begin_head_check() override;
    bool follows_all_feeds() const override { return follows_all_; }
    void add_followed(std::vector<uuid>& to) const override;
    void on_head(const activity_head& head) override;

    void on_token_revoked(const uuid& token) noexcept override;
    void on_workspace_removed(const uuid& workspace) noexcept override;

    // The distinct tokens that opened the subscriptions of this shard, and what to do when one is no longer
    // valid.
    std::vector<digest32> tokens_in_use() const;
    void refuse_token(const digest32& hash);

    // Reads what other servers have committed; ends when the group is asked to stop.
    awaitable<void> run_catch_up(task_group& tasks);

    event_metrics& metrics() { return metrics_; }

private:
    friend class subscriber;

    struct stream {
        event_order order;
        subscriber_list listeners;
        bool waits_for_read = false;
    };
    using streams = std::unordered_map<uuid, stream, uuid_hash>;

    stream* find_or_follow(const uuid& workspace);
    awaitable<result<void>> open_one(uuid workspace);
    awaitable<result<void>> open_all();
    void forget(const std::optional<uuid>& workspace);
    void deliver(stream& from);
    void publish(const feed_entry& row);
    void send_away_from(const uuid& workspace) noexcept;
    void read_if_behind(const uuid& workspace, stream& which);
    std::vector<activity_head> take_behind();
    awaitable<bool> read_batch();
    template <class Predicate>
    void send_away_if(Predicate unwanted);

    executor executor_;
    feed_tail& feed_;
    event_metrics metrics_;
    streams streams_;
    subscriber_list to_all_;
    bool follows_all_ = false;  // every workspace without a stream has no activity yet
    event_order::events ready_;
    std::vector<uuid> behind_;
    wakeup reading_;
    std::unordered_map<uuid, std::int64_t, uuid_hash> last_before_check_;
};

}  // namespace restante
