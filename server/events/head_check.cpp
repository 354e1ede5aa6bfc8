#include "server/events/head_check.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr auto interval = std::chrono::seconds(5);
constexpr std::size_t heads_at_once = 1000;

}  // namespace

awaitable<void> head_check::run(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { wake_.notify_all(); });
    while (!tasks.stop_requested()) {
        if (!wanted_)
            co_await wake_.wait_until(std::chrono::steady_clock::now() + interval);
        wanted_ = false;
        if (!tasks.stop_requested())
            co_await check();
    }
}

void head_check::check_now() noexcept
{
    wanted_ = true;
    wake_.notify_all();
}

awaitable<void> head_check::check()
{
    for (auto* each : followers_)
        each->begin_head_check();
    const auto heads = co_await read_heads();
    if (!heads)
        co_return;  // the database is unavailable; the next check will see what was missed
    for (const auto& head : *heads)
        for (auto* each : followers_)
            each->on_head(head);
}

awaitable<result<std::vector<activity_head>>> head_check::read_heads()
{
    const auto wants_all = [](const head_follower* each) { return each->follows_all_feeds(); };
    if (std::any_of(followers_.begin(), followers_.end(), wants_all))
        co_return co_await feed_.all_heads();
    std::vector<uuid> followed;
    for (const auto* each : followers_)
        each->add_followed(followed);
    std::sort(followed.begin(), followed.end());
    followed.erase(std::unique(followed.begin(), followed.end()), followed.end());

    std::vector<activity_head> all;
    for (std::size_t from = 0; from < followed.size(); from += heads_at_once) {
        const auto some = std::span(followed).subspan(from, std::min(heads_at_once, followed.size() - from));
        const auto heads = co_await feed_.heads(some);
        if (!heads)
            co_return heads.error();
        all.insert(all.end(), heads->begin(), heads->end());
    }
    co_return all;
}

}  // namespace restante
