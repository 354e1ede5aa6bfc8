#include "core/task_group.hpp"

#include "core/log.hpp"
#include "core/wakeup.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <deque>
#include <exception>
#include <vector>

namespace restante {

namespace {

// The error message of a task that threw; empty if it was merely cancelled.
std::string describe(std::exception_ptr failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        return e.code() == asio::error::operation_aborted ? "" : e.what();
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "unknown exception";
    }
}

}  // namespace

// Shared with the completion handlers, so that a task that outlives its group still has valid state.
struct task_group::state {
    struct slot {
        std::string_view name;
        asio::cancellation_signal cancellation;
        bool running = false;
        bool begun = false;  // its coroutine has been entered
        bool cancelled_before_it_began = false;
    };

    explicit state(executor e) : ex(e), stopping(e), emptied(e) {}

    slot& take_slot(std::string_view name)
    {
        if (free.empty()) {
            slots.emplace_back();
            free.push_back(&slots.back());
        }
        slot& taken = *free.back();
        free.pop_back();
        taken.name = name;
        taken.running = true;
        taken.begun = taken.cancelled_before_it_began = false;
        ++running;
        return taken;
    }

    void task_ended(slot& ended, std::exception_ptr failure)
    {
        if (failure)
            report(ended.name, describe(failure));
        ended.running = false;
        // A signal that is being emitted must not be reused before emit() has returned.
        (emitting ? freed_while_emitting : free).push_back(&ended);
        if (--running == 0)
            emptied.notify_all();
    }

    void report(std::string_view name, const std::string& what)
    {
        if (what.empty())
            return;
        log_line(log_level::error, "task_failed").field("task", name).field("error", what);
        if (on_failure)
            on_failure(name);
    }

    void cancel_all()
    {
        emitting = true;
        // By index, since a cancelled task may spawn another before it ends; that one is cancelled as well.
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (!slots[i].running)
                continue;
            if (slots[i].begun)
                slots[i].cancellation.emit(asio::cancellation_type::terminal);
            else
                slots[i].cancelled_before_it_began = true;
        }
        emitting = false;
        free.insert(free.end(), freed_while_emitting.begin(), freed_while_emitting.end());
        freed_while_emitting.clear();
    }

    static awaitable<void> run(slot& self, awaitable<void> task);

    executor ex;
    callback on_failure;
    callback on_restart;
    bool stop_requested = false;
    wakeup stopping;
    wakeup emptied;
    boost::intrusive::list<stop_callback, boost::intrusive::constant_time_size<false>> callbacks;

    // Slots are reused and never move: thousands of short tasks cost no allocation here.
    std::deque<slot> slots;
    std::vector<slot*> free;
    std::vector<slot*> freed_while_emitting;
    std::size_t running = 0;
    bool emitting = false;
};

// co_spawn of Boost 1.81 awaits before and after the coroutine it is given. In a cancelled one those awaits
// throw, out of io_context::run(). So cancellation is held back until the task has begun, and awaiting no
// longer throws once it is over.
awaitable<void> task_group::state::run(slot& self, awaitable<void> task)
{
    self.begun = true;
    if (self.cancelled_before_it_began)
        co_return;
    std::exception_ptr failure;
    try {
        co_await std::move(task);
    } catch (...) {
        failure = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(false);
    if (failure)
        std::rethrow_exception(failure);
}

task_group::task_group(executor ex) : state_(std::make_shared<state>(ex)) {}

task_group::~task_group()
{
    state_->on_failure = nullptr;
    state_->on_restart = nullptr;
}

void task_group::on_failure(callback count)
{
    state_->on_failure = std::move(count);
}

void task_group::on_restart(callback count)
{
    state_->on_restart = std::move(count);
}

void task_group::spawn(task_name name, awaitable<void> task)
{
    auto& slot = state_->take_slot(name.text());
    auto ended = [group = state_, &slot](std::exception_ptr failure) { group->task_ended(slot, failure); };
    asio::co_spawn(state_->ex, state::run(slot, std::move(task)),
                   asio::bind_cancellation_slot(slot.cancellation.slot(), std::move(ended)));
}

void task_group::spawn_supervised(task_name name, factory make, restart_policy pauses)
{
    spawn(name, supervise(state_, name, std::move(make), pauses));
}

awaitable<void> task_group::supervise(std::shared_ptr<state> group, task_name name, factory make,
                                      restart_policy pauses)
{
    for (auto pause = pauses.first;; pause = std::min(pause * 2, pauses.longest)) {
        const auto started = std::chrono::steady_clock::now();
        std::exception_ptr failure;
        try {
            auto task = make();
            co_await std::move(task);
            co_return;
        } catch (...) {
            failure = std::current_exception();
        }
        group->report(name.text(), describe(failure));
        const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
        if (group->stop_requested || cancelled != asio::cancellation_type::none)
            co_return;

        if (std::chrono::steady_clock::now() - started > pauses.longest)
            pause = pauses.first;
        co_await group->stopping.wait_until(std::chrono::steady_clock::now() + pause);
        if (group->stop_requested)
            co_return;
        if (group->on_restart)
            group->on_restart(name.text());
    }
}

std::size_t task_group::size() const
{
    return state_->running;
}

executor task_group::get_executor() const
{
    return state_->ex;
}

bool task_group::stop_requested() const
{
    return state_->stop_requested;
}

void task_group::request_stop()
{
    state_->stop_requested = true;
    state_->stopping.notify_all();
    while (!state_->callbacks.empty()) {
        stop_callback& next = state_->callbacks.front();
        state_->callbacks.pop_front();
        const auto call = std::move(next.call_);  // the call may destroy its own registration
        call();
    }
}

awaitable<bool> task_group::stopped_within(std::chrono::steady_clock::duration delay)
{
    if (!state_->stop_requested)
        co_await state_->stopping.wait_until(std::chrono::steady_clock::now() + delay);
    co_return state_->stop_requested;
}

task_group::stop_callback::stop_callback(task_group& group, std::function<void()> call)
    : call_(std::move(call))
{
    if (group.stop_requested())
        call_();
    else
        group.state_->callbacks.push_back(*this);
}

awaitable<bool> task_group::finished(time_point deadline)
{
    while (state_->running != 0) {
        const bool notified = co_await state_->emptied.wait_until(deadline);
        if (!notified)
            break;
    }
    co_return state_->running == 0;
}

void task_group::cancel()
{
    // Immediate on the shard's thread. From another thread Asio would post each signal, to slots that may
    // have been reused by then.
    asio::dispatch(state_->ex, [group = state_] { group->cancel_all(); });
}

awaitable<bool> task_group::shutdown(std::chrono::milliseconds grace, std::chrono::milliseconds last_wait)
{
    request_stop();
    bool empty = co_await finished(std::chrono::steady_clock::now() + grace);
    if (!empty) {
        cancel();
        empty = co_await finished(std::chrono::steady_clock::now() + last_wait);
    }
    for (const auto& slot : state_->slots)
        if (slot.running)
            log_line(log_level::error, "task_stuck").field("task", slot.name);
    co_return empty;
}

}  // namespace restante
