#pragma once

#include "core/task_group.hpp"
#include "core/wakeup.hpp"
#include "storage/feed_tail.hpp"

#include <initializer_list>
#include <vector>

namespace restante {

// Follows feeds and must not miss that one has grown, whatever happens to the notification about it.
class head_follower {
public:
    virtual ~head_follower() = default;

    // A check begins: what is known now is older than the heads that on_head() will report.
    virtual void begin_head_check() {}
    virtual bool follows_all_feeds() const { return false; }
    virtual void add_followed(std::vector<uuid>& to) const = 0;
    virtual void on_head(const activity_head& head) = 0;
};

// Asks the database every 5 s, and when asked to, how far the followed feeds of a shard have come: a lost
// notification costs seconds and never a row.
class head_check {
public:
    head_check(executor ex, feed_tail& feed, std::initializer_list<head_follower*> followers)
        : feed_(feed), followers_(followers), wake_(ex)
    {
    }

    // Ends when the group is asked to stop.
    awaitable<void> run(task_group& tasks);

    // A notification may have been missed: check now instead of in a few seconds.
    void check_now() noexcept;

private:
    awaitable<void> check();
    awaitable<result<std::vector<activity_head>>> read_heads();

    feed_tail& feed_;
    std::vector<head_follower*> followers_;
    wakeup wake_;
    bool wanted_ = false;
};

}  // namespace restante
