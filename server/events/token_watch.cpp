#include "server/events/token_watch.hpp"

#include "storage/tokens.hpp"

#include <algorithm>
#include <set>

namespace restante {

namespace {

constexpr auto between_checks = std::chrono::seconds(3);
constexpr std::size_t tokens_at_once = 1000;

using holders = std::vector<token_holder*>;

std::vector<digest32> tokens_of(const holders& all)
{
    std::vector<digest32> tokens;
    for (const auto* each : all)
        each->add_tokens(tokens);
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return tokens;
}

awaitable<void> check(std::span<const digest32> in_use, const holders& all, token_store& tokens)
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
            for (auto* each : all)
                each->refuse_token(token);
}

}  // namespace

awaitable<void> run_token_watch(std::vector<token_holder*> all, token_store& tokens, task_group& tasks)
{
    while (!co_await tasks.stopped_within(between_checks)) {
        const auto in_use = tokens_of(all);
        for (std::size_t from = 0; from < in_use.size(); from += tokens_at_once) {
            const auto some = std::span(in_use).subspan(from, std::min(tokens_at_once, in_use.size() - from));
            co_await check(some, all, tokens);
        }
    }
}

}  // namespace restante
