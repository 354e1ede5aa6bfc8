#pragma once

#include "core/asio.hpp"
#include "core/ids.hpp"

#include <vector>

namespace restante {

class pending_uploads;
class task_group;

// Fetches that are not stamped yet. A fetch only adds an entry here, so that it costs one read and no commit;
// the writer does the rest. Best effort: past the limit, and while the database is unavailable, stamps are
// lost.
class fetch_stamps {
public:
    static constexpr std::size_t max_notes = 10'000;

    void note(const uuid& workspace, const uuid& file);

    // Element i of both is one fetch.
    struct batch {
        std::vector<uuid> workspaces;
        std::vector<uuid> files;
    };
    batch take();

private:
    batch noted_;
};

// Writes the stamps every 100 ms, in one statement, and flushes them when the group is asked to stop.
awaitable<void> run_fetch_stamp_writer(fetch_stamps& stamps, pending_uploads& uploads, task_group& tasks);

}  // namespace restante
