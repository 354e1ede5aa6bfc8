#include "storage/content/at_once.hpp"

#include "core/task_group.hpp"

#include <algorithm>

namespace restante {

namespace {

struct shared_work {
    std::size_t count;
    std::function<awaitable<error_code>(std::size_t)> work;
    std::size_t taken = 0;
    error_code failure = {};
};

// Takes what nobody has taken, one after the other.
awaitable<void> do_some(std::shared_ptr<shared_work> of)
{
    while (!of->failure && of->taken < of->count) {
        const auto ec = co_await of->work(of->taken++);
        if (ec && !of->failure)
            of->failure = ec;
    }
}

class cancel_at_end {
public:
    explicit cancel_at_end(task_group& what) : what_(what) {}
    cancel_at_end(const cancel_at_end&) = delete;
    cancel_at_end& operator=(const cancel_at_end&) = delete;
    ~cancel_at_end() { what_.cancel(); }

private:
    task_group& what_;
};

}  // namespace

awaitable<error_code> do_at_once(std::size_t count, std::size_t most,
                                 std::function<awaitable<error_code>(std::size_t)> work)
{
    if (count == 1)
        co_return co_await work(0);
    const auto all = std::make_shared<shared_work>(count, std::move(work));
    task_group helpers(co_await asio::this_coro::executor);
    const cancel_at_end guard(helpers);
    for (std::size_t i = 1; i < std::min(most, count); ++i)
        helpers.spawn("store_file", do_some(all));
    co_await do_some(all);
    co_await helpers.finished(task_group::time_point::max());
    co_return all->failure;
}

}  // namespace restante
