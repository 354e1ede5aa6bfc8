#include "client/send.hpp"

#include "client/sender.hpp"
#include "client/session.hpp"
#include "core/task_group.hpp"

namespace restante::client {

namespace {

awaitable<void> redraw(task_group& tasks, progress_display& progress)
{
    while (!co_await tasks.stopped_within(std::chrono::milliseconds(100)))
        progress.draw();
}

}  // namespace

exit_code run_send(const settings& config, const std::vector<std::string>& files)
{
    reporter out(config.json);
    const auto opened_files = open_outgoing(files, config.name);
    if (!opened_files)
        return out.fail(opened_files.error());
    auto opened = session::open(config, out);
    if (!opened)
        return out.fail(opened.error());
    auto& talk = **opened;
    worker_pool workers(2);
    sender work(talk.get_executor(), config, talk.api(), workers, out);
    task_group tasks(talk.get_executor());
    if (out.progress().is_on())
        tasks.spawn("redraw", redraw(tasks, out.progress()));
    const auto code = talk.run(work.run(*opened_files));
    return code == exit_code::interrupted ? out.fail({code, "interrupted", "Interrupted."}) : code;
}

}  // namespace restante::client
