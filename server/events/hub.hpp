#pragma once

#include "auth/identity_notices.hpp"
#include "core/error.hpp"
#include "core/secret_hash.hpp"
#include "core/sha256.hpp"
#include "core/task_group.hpp"
#include "server/events/event_order.hpp"
#include "server/events/head_check.hpp"
#include "server/events/subscriber.hpp"
#include "server/events/token_watch.hpp"
#include "server/presence/presence_source.hpp"
#include "storage/activity.hpp"
#include "storage/feed_tail.hpp"
#include "storage/live_event.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace restante {

// The live listeners of one shard. Each workspace that somebody listens to has its events put in order here,
// from whichever server they come: every row after the listener's start once, by rising seq, unless the
// listener is sent away first. A commit costs one look-up when nobody listens, and never waits for those who
// do. What is held for all of them together is bounded: when it is too much, those that hold most for longest
// are sent away.
class hub final : public identity_listener,
                  public commit_listener,
                  public live_event_listener,
                  public head_follower,
                  public token_holder,
                  public presence_source {
public:
    hub(executor ex, feed_tail& feed, metric_set& metrics);

    // A subscriber to one workspace, or to all of them. What is committed after this has returned will be
    // delivered. Errors are those of the database. The hub must outlive its subscribers.
    awaitable<result<std::unique_ptr<subscriber>>> subscribe(principal who, std::optional<uuid> workspace);

    // The same in two steps: one that is sent away when its token is revoked but hears nothing yet, and its
    // start. A listener whose start failed is of no more use.
    std::unique_ptr<subscriber> admit(principal who, std::optional<uuid> workspace);
    awaitable<result<void>> start(subscriber& listener);

    // A commit of this process.
    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override;
    void on_live_event(std::shared_ptr<const live_event> what) noexcept override;
    // Another server has committed rows up to this one.
    void on_remote_activity(const uuid& workspace, std::int64_t seq) noexcept;
    void begin_head_check() override;
    bool follows_all_feeds() const override { return follows_all_; }
    void add_followed(std::vector<uuid>& to) const override;
    void on_head(const activity_head& head) override;

    void on_token_revoked(const uuid& token) noexcept override;
    void on_workspace_removed(const uuid& workspace) noexcept override;

    // Ends what was opened with an admin token that is no longer valid.
    void disconnect_admins();

    void add_tokens(std::vector<digest32>& to) const override;
    void refuse_token(const digest32& hash) override;
    void add_present(std::vector<uuid>& to) const override;

    // Sends listeners away until so many bytes more may be held. What they are being sent takes a moment to
    // be given back.
    void make_room(std::size_t bytes);
    // Waits until they have given it back, and counts these bytes from then on. Nothing if they take too long.
    awaitable<std::optional<event_memory::share>> reserve(std::size_t bytes);
    event_memory& memory() { return memory_; }

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
    using streams = std::unordered_map<uuid, stream, secret_hash>;

    stream* find_or_follow(const uuid& workspace);
    awaitable<result<void>> open_one(uuid workspace);
    awaitable<result<void>> open_all();
    void forget(const std::optional<uuid>& workspace);
    void deliver(stream& from);
    void publish(const feed_entry& row);
    void disconnect_from(const uuid& workspace) noexcept;
    void accept(const feed_row& row);
    subscriber* largest_burden();
    void read_if_behind(const uuid& workspace, stream& which);
    std::vector<activity_head> take_behind();
    awaitable<bool> read_batch();
    template <class Action>
    void for_each_listener(Action action);
    template <class Predicate>
    void disconnect_if(Predicate unwanted);

    executor executor_;
    feed_tail& feed_;
    event_metrics metrics_;
    event_memory memory_;
    streams streams_;
    subscriber_list to_all_;
    subscriber_list admitted_;  // not started yet
    bool follows_all_ = false;  // every workspace without a stream has no activity yet
    event_order::events ready_;
    std::vector<uuid> behind_;
    wakeup reading_;
    int batch_ = 1;  // so many workspaces are read at once, and so many rows of each
    std::unordered_map<uuid, std::int64_t, secret_hash> last_before_check_;
};

}  // namespace restante
