#pragma once

#include "core/asio.hpp"

#include <boost/intrusive/list.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace restante {

// The name of a task, for logs and as a metric label: literals only, so that nothing is copied and the set of
// names is closed.
class task_name {
public:
    consteval task_name(const char* literal) : text_(literal) {}
    constexpr std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

// Backoff of a supervised task between a failure and the next attempt: doubled each time, and reset once the
// task has run for longer than the longest.
struct restart_policy {
    std::chrono::milliseconds first{50};
    std::chrono::milliseconds longest{5000};
};

// Owns every coroutine that a shard starts, each with a name and an end. Used from the shard's thread only.
//
// An exception that leaves a task is logged once as `task_failed` and counted; other tasks are not affected.
// A task that ends because it was cancelled (operation_aborted) has not failed.
//
// Shutdown has three steps: request a stop (request_stop), wait for running tasks (finished), cancel the
// rest. shutdown() performs all three.
//
// A group that is destroyed with tasks still in it abandons them; they are destroyed with their io_context.
class task_group {
public:
    using callback = std::function<void(std::string_view task)>;
    using factory = std::function<awaitable<void>()>;
    using time_point = std::chrono::steady_clock::time_point;

    explicit task_group(executor ex);
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    // Called after the log line of a failed task, and before each restart of a supervised one.
    void on_failure(callback count);
    void on_restart(callback count);

    // Starts the task; on the shard's thread, it runs up to its first suspension before spawn returns.
    void spawn(task_name name, awaitable<void> task);

    // Starts make() and, whenever that task throws, make() again after a pause. A task that returns has
    // ended. No restart after request_stop(). `make` lives as long as the task, and so do its captures.
    void spawn_supervised(task_name name, factory make, restart_policy pauses = {});

    std::size_t size() const;
    executor get_executor() const;

    bool stop_requested() const;
    void request_stop();

    // Sleeps; returns true as soon as a stop is requested (immediately if it already was), false after the
    // full delay. Made for the loop of a long-lived task: while (!co_await tasks.stopped_within(interval)) …
    awaitable<bool> stopped_within(std::chrono::steady_clock::duration delay);

    // Calls back when a stop is requested, immediately if it already was. As with std::stop_callback,
    // destroying it ends the registration, which costs no allocation beyond the function's.
    class stop_callback : public boost::intrusive::list_base_hook<
                              boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    public:
        stop_callback(task_group& group, std::function<void()> call);
        stop_callback(const stop_callback&) = delete;
        stop_callback& operator=(const stop_callback&) = delete;

    private:
        friend class task_group;
        std::function<void()> call_;
    };

    // True as soon as no task is left, false if some still run at the deadline. Not to be awaited by a task
    // of this group.
    awaitable<bool> finished(time_point deadline);

    // Terminally cancels every running task: its current wait and all later ones end with operation_aborted.
    void cancel();

    // All three steps. False if a task ignored even its cancellation for `last_wait`; each such task is named
    // in a `task_stuck` line.
    awaitable<bool> shutdown(std::chrono::milliseconds grace,
                             std::chrono::milliseconds last_wait = std::chrono::seconds(2));

private:
    struct state;
    static awaitable<void> supervise(std::shared_ptr<state> group, task_name name, factory make,
                                     restart_policy pauses);

    std::shared_ptr<state> state_;
};

}  // namespace restante
