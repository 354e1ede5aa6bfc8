#include "auth/last_used.hpp"

#include "core/log.hpp"
#include "core/task_group.hpp"
#include "storage/tokens.hpp"

#include <utility>

namespace restante {

namespace {

constexpr auto pause = std::chrono::seconds(1);

awaitable<void> write_notes(last_used_notes& notes, token_store& tokens)
{
    const auto due = notes.take();
    if (due.empty())
        co_return;
    const auto written = co_await tokens.stamp_last_used(due);
    if (!written)
        log_line(log_level::debug, "last_used_not_written").failure(written.error());
}

}  // namespace

void last_used_notes::note(const uuid& token, clock::time_point now)
{
    if (recent_.find(token, now) || due_.size() >= max_tokens)
        return;
    recent_.put(token, {}, now);
    due_.push_back(token);
}

std::vector<uuid> last_used_notes::take()
{
    return std::exchange(due_, {});
}

awaitable<void> run_last_used_writer(last_used_notes& notes, token_store& tokens, task_group& tasks)
{
    for (bool stopping = false; !stopping;) {
        stopping = co_await tasks.stopped_within(pause);
        co_await write_notes(notes, tokens);
    }
}

}  // namespace restante
