#pragma once

#include "core/wakeup.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace restante {

// For work that takes as long for one caller as for ten, such as syncing a directory: callers that come while
// it runs share the next run. One shard's thread only.
template <class Result>
class shared_run {
public:
    using work = std::function<awaitable<Result>()>;

    // `cancelled` is what those who share a run get when the caller that does it is cancelled.
    shared_run(executor ex, work what, Result cancelled)
        : what_(std::move(what)), cancelled_(std::move(cancelled)), ended_(ex)
    {
    }

    // Returns the result of a run that began after this call.
    awaitable<Result> run()
    {
        const auto mine = next_;
        while (!mine->how) {
            if (running_) {
                co_await ended_.wait();
                continue;
            }
            running_ = true;
            next_ = std::make_shared<batch>();
            const end_of_run end{*this, *mine};
            mine->how = co_await what_();
        }
        co_return *mine->how;
    }

private:
    struct batch {
        std::optional<Result> how;
    };

    struct end_of_run {
        shared_run& of;
        batch& mine;
        ~end_of_run()
        {
            if (!mine.how)
                mine.how = of.cancelled_;
            of.running_ = false;
            of.ended_.notify_all();
        }
    };

    work what_;
    Result cancelled_;
    wakeup ended_;
    std::shared_ptr<batch> next_ = std::make_shared<batch>();
    bool running_ = false;
};

}  // namespace restante
