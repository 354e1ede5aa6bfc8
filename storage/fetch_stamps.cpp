#include "storage/fetch_stamps.hpp"

#include "core/log.hpp"
#include "core/task_group.hpp"
#include "storage/pending_uploads.hpp"

namespace restante {

namespace {

constexpr auto interval = std::chrono::milliseconds(100);

}  // namespace

void fetch_stamps::note(const uuid& workspace, const uuid& file)
{
    if (noted_.files.size() >= max_notes)
        return;
    noted_.workspaces.push_back(workspace);
    noted_.files.push_back(file);
}

fetch_stamps::batch fetch_stamps::take()
{
    return std::exchange(noted_, {});
}

awaitable<void> run_fetch_stamp_writer(fetch_stamps& stamps, pending_uploads& uploads, task_group& tasks)
{
    for (bool stopping = false; !stopping;) {
        stopping = co_await tasks.stopped_within(interval);
        const auto due = stamps.take();
        if (due.files.empty())
            continue;
        const auto written = co_await uploads.mark_fetched(due.workspaces, due.files);
        if (!written)
            log_line(log_level::debug, "stamps_lost")
                .field("count", due.files.size())
                .failure(written.error());
    }
}

}  // namespace restante
