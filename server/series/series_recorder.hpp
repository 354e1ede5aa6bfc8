#pragma once

#include "core/task_group.hpp"
#include "server/series/recent_series.hpp"

#include <deque>
#include <functional>
#include <memory>

namespace restante {

// Takes a point of this server's figures every ten seconds, keeps it and writes it to the database, where
// those of all servers come together. One shard runs it.
class series_recorder {
public:
    // The figures of the whole process.
    using collector = std::function<awaitable<result<std::shared_ptr<const metric_set>>>()>;

    series_recorder(collector collect, figures_store& store, recent_series& recent);

    // Ends when the group stops.
    awaitable<void> run(task_group& tasks);

    // One point, for the ten seconds that began at `slot`. What could not be written is tried again with the
    // next.
    awaitable<void> record(timestamp slot);

private:
    awaitable<void> write();

    collector collect_;
    figures_store& store_;
    recent_series& recent_;
    const uuid server_ = make_uuid_v4();
    series_point before_;
    std::deque<figures_row> unwritten_;
};

}  // namespace restante
