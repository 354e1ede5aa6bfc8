#include "storage/workspace_turns.hpp"

#include <algorithm>

namespace restante {

// A place in the line. However its coroutine ends, it leaves the line, and a turn that was given and not
// taken goes to the next.
class workspace_turns::place {
public:
    place(workspace_turns& of, const uuid& workspace, executor ex, bool restricted)
        : self{steady_timer(ex), restricted}, of_(of), workspace_(workspace)
    {
        of_.lines_[workspace_].waiting.push_back(&self);
        ++of_.waiting_;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place()
    {
        if (taken_)
            return;
        if (self.called) {
            of_.end_turn(workspace_);
            return;
        }
        auto& mine = of_.lines_.at(workspace_);
        std::erase(mine.waiting, &self);
        --of_.waiting_;
        of_.admit(mine);  // a restricted one may have been in the way of others
    }
    turn take()
    {
        taken_ = true;
        return turn(of_, workspace_);
    }

    waiter self;

private:
    workspace_turns& of_;
    uuid workspace_;
    bool taken_ = false;
};

workspace_turns::turn::~turn()
{
    if (from_)
        from_->end_turn(workspace_);
}

void workspace_turns::end_turn(const uuid& workspace)
{
    const auto found = lines_.find(workspace);
    line& mine = found->second;
    --mine.running;
    admit(mine);
    // Somebody who waits has somebody to wait for.
    if (mine.running == 0)
        lines_.erase(found);
}

void workspace_turns::admit(line& mine)
{
    while (!mine.waiting.empty() && may_go(mine, mine.waiting.front()->restricted)) {
        waiter& next = *mine.waiting.front();
        mine.waiting.pop_front();
        --waiting_;
        ++mine.running;
        next.called = true;
        next.timer.cancel();
    }
}

awaitable<result<workspace_turns::turn>> workspace_turns::take(uuid workspace, bool restricted)
{
    const auto found = lines_.find(workspace);
    const bool first = found == lines_.end() || found->second.waiting.empty();
    if (first && (found == lines_.end() || may_go(found->second, restricted))) {
        ++lines_[workspace].running;
        co_return turn(*this, workspace);
    }
    if (waiting_ >= limits_.waiting || found->second.waiting.size() >= limits_.waiting_each)
        co_return RESTANTE_ERROR(errc::database_busy);
    const executor ex = co_await asio::this_coro::executor;
    place in_line(*this, workspace, ex, restricted);
    in_line.self.timer.expires_after(limits_.wait_limit);
    co_await in_line.self.timer.async_wait(use_tuple);
    if (!in_line.self.called)
        co_return RESTANTE_ERROR(errc::database_busy);
    co_return in_line.take();
}

}  // namespace restante
