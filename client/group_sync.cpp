#include "client/group_sync.hpp"

#include "client/disk.hpp"

namespace restante::client {

group_sync::group_sync(executor ex, worker_pool& workers, descriptors which, const char* what)
    : workers_(workers),
      which_(std::move(which)),
      what_(what),
      shared_(ex, [this] { return sync_all(); }, failure{.code = "cancelled", .text = "cancelled"})
{
}

awaitable<outcome<void>> group_sync::run()
{
    return shared_.run();
}

awaitable<outcome<void>> group_sync::sync_all()
{
    const auto all = which_();
    auto job = [&all, this]() -> outcome<void> {
        for (const auto& each : all)
            if (auto synced = sync(each->get(), what_); !synced)
                return synced;
        return {};
    };
    co_return co_await workers_.run(job);
}

}  // namespace restante::client
