#include "auth/standing_tokens.hpp"

#include "core/log.hpp"
#include "core/task_group.hpp"
#include "storage/tokens.hpp"

#include <utility>

namespace restante {

namespace {

// A check every 2 s, and half a second after one is wanted.
constexpr auto tick = std::chrono::milliseconds(500);
constexpr int ticks_between_checks = 4;

// Rather forget all than remember what to forget without limit.
constexpr std::size_t most_doubted = 10'000;

}  // namespace

const standing_tokens::holder* standing_tokens::find(const digest32& hash, clock::time_point now)
{
    if (now >= trusted_until_)
        return nullptr;
    const auto* found = known_.find(hash, now);
    if (!found || doubted_.empty())
        return found;
    const bool doubtful = doubted_.contains(found->who.token) || doubted_.contains(found->who.workspace.id);
    return doubtful ? nullptr : found;
}

void standing_tokens::keep(const holder& who, epoch asked_at, clock::time_point now)
{
    // Nobody announces that a token has ended by itself.
    if (asked_at == epoch_ && !who.who.ends)
        known_.put(who.who.token_hash, who, now);
}

void standing_tokens::apply(const std::vector<uuid>& revoked_tokens,
                            const std::vector<uuid>& changed_workspaces, clock::time_point asked)
{
    if (asked - asked_ > longest_silence)
        forget_all();
    asked_ = asked;
    doubted_.insert(revoked_tokens.begin(), revoked_tokens.end());
    doubted_.insert(changed_workspaces.begin(), changed_workspaces.end());
    const auto changed = std::exchange(doubted_, {});
    if (!changed.empty())
        forget(changed);
    trusted_until_ = asked + trusted_for;
}

void standing_tokens::doubt(const uuid& changed) noexcept
{
    ++epoch_;
    doubted_.insert(changed);
    if (doubted_.size() > most_doubted)
        forget_all();
}

void standing_tokens::forget_all() noexcept
{
    ++epoch_;
    known_.erase_if([](const digest32&, const holder&) { return true; });
    doubted_.clear();
}

void standing_tokens::forget(const std::set<uuid>& changed)
{
    ++epoch_;
    known_.erase_if([&](const digest32&, const holder& each) {
        return changed.contains(each.who.token) || changed.contains(each.who.workspace.id);
    });
}

namespace {

// True when the group is asked to stop.
awaitable<bool> wait_for_check(standing_tokens& known, task_group& tasks)
{
    for (int i = 0; i < ticks_between_checks; ++i) {
        const bool stopped = co_await tasks.stopped_within(tick);
        if (stopped || known.take_wanted())
            co_return stopped;
    }
    co_return false;
}

}  // namespace

awaitable<void> run_identity_watch(standing_tokens& known, token_store& tokens, task_group& tasks,
                                   const clock& time)
{
    do {
        const auto asked = time.now();
        const auto changes = co_await tokens.recent_changes();
        if (changes)
            known.apply(changes->revoked_tokens, changes->changed_workspaces, asked);
        else
            log_line(log_level::debug, "identity_changes_not_read").failure(changes.error());
    } while (!co_await wait_for_check(known, tasks));
}

}  // namespace restante
