#include "server/api/operations/readiness_board.hpp"

#include "core/wakeup.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>

namespace restante {

namespace {

constexpr auto patience = std::chrono::seconds(2);

// Lives on the shard that asked. The others only pass a pointer to it back and forth.
struct collection {
    collection(executor home, std::size_t shards) : missing(shards), changed(home) {}

    void add(const std::vector<std::string>& more)
    {
        for (const auto& reason : more)
            if (std::ranges::find(reasons, reason) == reasons.end())
                reasons.push_back(reason);
        if (--missing == 0)
            changed.notify_all();
    }

    std::vector<std::string> reasons;
    std::size_t missing;
    wakeup changed;
};

}  // namespace

awaitable<std::vector<std::string>> readiness_board::reasons_not_ready(executor home) const
{
    const auto all = std::make_shared<collection>(home, shards_.size());
    for (const auto& each : shards_) {
        asio::post(each.home, [all, home, of_shard = each.of_shard] {
            asio::post(home, [all, reasons = of_shard->reasons_not_ready()] { all->add(reasons); });
        });
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    while (all->missing > 0) {
        const bool changed = co_await all->changed.wait_until(end);
        if (!changed)
            break;
    }
    auto reasons = std::move(all->reasons);
    if (all->missing > 0)
        reasons.push_back("a thread of the server does not respond");
    co_return reasons;
}

}  // namespace restante
