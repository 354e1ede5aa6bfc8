#include "auth/token_lookups.hpp"

namespace restante {

// The coroutine that runs a batch may be cancelled at any await. In every case the next batch can start and
// the members of this one are woken.
class token_lookups::turn {
public:
    turn(token_lookups& all, std::shared_ptr<batch> mine) : all_(all), mine_(std::move(mine)) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn()
    {
        if (all_.waiting_ == mine_)
            all_.waiting_.reset();
        if (all_.running_ == mine_)
            all_.running_.reset();
        mine_->settled.notify_all();
        all_.free_.notify_all();
    }

private:
    token_lookups& all_;
    std::shared_ptr<batch> mine_;
};

awaitable<result<std::optional<token_owner>>> token_lookups::find(digest32 hash)
{
    for (;;) {
        const bool first = !waiting_;
        if (first)
            waiting_ = std::make_shared<batch>(executor_);
        const auto mine = waiting_;
        mine->answers.try_emplace(hash);
        // The first member of a batch runs it; the others wait.
        if (first)
            co_await run(mine);
        else
            co_await mine->settled.wait();

        if (!mine->done)
            continue;
        if (mine->failure)
            co_return mine->failure;
        co_return mine->answers.at(hash);
    }
}

awaitable<void> token_lookups::run(std::shared_ptr<batch> mine)
{
    const turn held(*this, mine);
    while (running_ && !mine->done)
        co_await free_.wait();
    if (mine->done)
        co_return;

    running_ = std::move(waiting_);
    std::vector<digest32> hashes;
    for (const auto& [hash, owner] : mine->answers)
        hashes.push_back(hash);
    auto owners = co_await ask_(hashes);
    mine->done = true;
    if (!owners) {
        mine->failure = owners.error();
        fail_those_behind(owners.error());
        co_return;
    }
    for (auto& owner : *owners)
        mine->answers[owner.hash] = owner;
}

void token_lookups::fail_those_behind(const error_code& failure)
{
    const auto behind = std::exchange(waiting_, nullptr);
    if (!behind)
        return;
    behind->failure = failure;
    behind->done = true;
}

}  // namespace restante
