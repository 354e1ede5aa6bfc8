#include "server/events/token_watch.hpp"

#include "server/events/hub.hpp"
#include "storage/tokens.hpp"

#include <algorithm>
#include <set>

namespace restante {

namespace {

constexpr auto between_looks = std::chrono::seconds(3);
constexpr std::size_t tokens_at_once = 1000;

awaitable<void> look_at(std::span<const digest32> in_use, hub& events, token_store& tokens)
{
    const auto owners = co_await tokens.find(in_use);
    if (!owners)
        co_return;
    std::set<digest32> good;
    for (const auto& owner : *owners)
        if (!owner.workspace.removed)
            good.insert(owner.hash);
    for (const auto& token : in_use)
        if (!good.contains(token))
            events.refuse_token(token);
}

}  // namespace

awaitable<void> run_token_watch(hub& events, token_store& tokens, task_group& tasks)
{
    while (!co_await tasks.stopped_within(between_looks)) {
        const auto in_use = events.tokens_in_use();
        for (std::size_t from = 0; from < in_use.size(); from += tokens_at_once) {
            const auto some = std::span(in_use).subspan(from, std::min(tokens_at_once, in_use.size() - from));
            co_await look_at(some, events, tokens);
        }
    }
}

}  // namespace restante
