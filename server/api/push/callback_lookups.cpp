#include "server/api/push/callback_lookups.hpp"

#include "auth/token.hpp"
#include "server/api/common/callback_url.hpp"
#include "storage/workspaces.hpp"

namespace restante {

namespace {

constexpr auto lifetime = std::chrono::seconds(5);
constexpr std::size_t capacity = 10'000;

}  // namespace

callback_lookups::callback_lookups(workspace_store& known, const address_policy& allowed, const clock& time)
    : known_(known), allowed_(allowed), time_(time), recent_(lifetime, capacity)
{
}

awaitable<answerable<std::shared_ptr<const callback>>> callback_lookups::find(uuid workspace)
{
    if (const auto* known = recent_.find(workspace, time_.now()))
        co_return *known;

    const auto asked_at = changes_;
    const auto asked_when = time_.now();
    const auto stored = co_await known_.callback_of(workspace);
    if (!stored)
        co_return refusal(stored.error());
    if (stored->url.empty())
        co_return refusal(errc::callback_url_missing);
    auto url = check_callback_url(stored->url, allowed_);
    if (!url)
        co_return refusal(errc::callback_url_not_allowed);
    if (!stored->inbound_secret) {
        auto fresh = make_secret();
        const auto set =
            co_await known_.set_inbound_secret(workspace, std::move(fresh), inbound_secret::keep);
        if (!set)
            co_return refusal(set.error());
        co_return refusal(errc::workspace_reregistering, {{"retry_after_seconds", 30}});
    }
    auto found = std::make_shared<const callback>(callback{std::move(*url), *stored->inbound_secret});
    if (changes_ == asked_at)
        recent_.put(workspace, found, asked_when);
    co_return found;
}

void callback_lookups::forget(const uuid& workspace) noexcept
{
    ++changes_;
    recent_.erase(workspace);
}

}  // namespace restante
