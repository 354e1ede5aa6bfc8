#pragma once

#include "client/failure.hpp"
#include "core/asio.hpp"
#include "core/shared_run.hpp"
#include "core/unique_fd.hpp"
#include "core/worker_pool.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace restante::client {

// Syncing takes as long for one file as for ten. Callers that come while a sync runs share the next one.
class group_sync {
public:
    // `which` says, on the caller's thread, what to sync, in this order. Held until that is done.
    using descriptors = std::function<std::vector<std::shared_ptr<const unique_fd>>()>;
    group_sync(executor ex, worker_pool& workers, descriptors which, const char* what);

    // Returns when a sync that began after this call is over.
    awaitable<outcome<void>> run();

private:
    awaitable<outcome<void>> sync_all();

    worker_pool& workers_;
    descriptors which_;
    const char* what_;
    shared_run<outcome<void>> shared_;
};

}  // namespace restante::client
