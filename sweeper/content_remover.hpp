#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "storage/content/content_stores.hpp"
#include "storage/content_removals.hpp"

namespace restante {

// Removes the bytes of files whose rows are gone, as the queue says. Several servers share the work; what
// fails, and what a server that died had claimed, is tried again. What a store keeps holds up nothing else.
class content_remover {
public:
    static constexpr auto interval = std::chrono::seconds(5);

    content_remover(pq::connection_pool& db, content_stores& contents, metric_set& metrics);

    awaitable<void> run(task_group& tasks);

    // One pass over the queue; how many keys were removed.
    awaitable<result<std::size_t>> remove_due(task_group& tasks);

private:
    struct batch {
        std::size_t removed = 0;
        bool more = false;  // there may be others
    };
    awaitable<result<batch>> remove_batch(content_place place);

    content_removals queue_;
    content_stores& contents_;
    metric_set::number& waiting_;
};

}  // namespace restante
