#pragma once

#include "core/asio.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <optional>
#include <type_traits>

namespace restante {

// A few threads for blocking calls (file I/O, PQcancel), so that none of them stalls a shard.
class worker_pool {
public:
    explicit worker_pool(std::size_t threads) : threads_(threads) {}
    ~worker_pool() { threads_.join(); }

    // Runs work on a worker thread and resumes the caller on its own shard with the result. Everything that
    // work refers to must stay alive until then; the call cannot be cancelled.
    template <class Work>
    awaitable<std::invoke_result_t<Work>> run(Work work)
    {
        using value_type = std::invoke_result_t<Work>;
        const executor home = co_await asio::this_coro::executor;
        std::optional<value_type> value;
        auto start = [this, home, &work, &value](auto handler) {
            auto job = [home, guard = asio::make_work_guard(home), &work, &value,
                        handler = std::move(handler)]() mutable {
                value.emplace(work());
                // The guard goes along: once the caller runs again, its shard may end before this thread does.
                auto resume = [guard = std::move(guard), handler = std::move(handler)]() mutable {
                    guard.reset();
                    handler();
                };
                asio::post(home, std::move(resume));
            };
            asio::post(threads_, std::move(job));
        };
        co_await asio::async_initiate<const asio::use_awaitable_t<executor>, void()>(start, use_await);
        co_return std::move(*value);
    }

private:
    asio::thread_pool threads_;
};

// The process-wide pool, started on first use.
worker_pool& shared_workers();

// The same for files that are written and read: more threads, because each may wait for the disk, and syncs
// that run at the same time share the disk's work.
worker_pool& disk_workers();

}  // namespace restante
