#include "client/pull.hpp"

#include "client/backoff.hpp"
#include "client/puller.hpp"
#include "client/session.hpp"

#include <csignal>
#include <thread>

namespace restante::client {

namespace {

// A service that begins while the disk is full goes on when somebody has made room.
outcome<pull_state> open_state(const settings& config, const std::string& home, reporter& out)
{
    backoff pause;
    for (;;) {
        auto disk = pull_state::open(config.into, home, config.workspace);
        if (disk || config.once || disk.error().code != "disk_full")
            return disk;
        const auto wait = pause.next();
        out.trouble("retry", disk.error(), {{"wait_ms", wait.count()}}, trying_again(wait));
        std::this_thread::sleep_for(wait);
    }
}

}  // namespace

exit_code run_pull(const settings& config, const environment& env)
{
    reporter out(config.json);
    const auto where = find_places(env);
    if (!where)
        return out.fail(where.error());
    auto disk = open_state(config, where->state, out);
    if (!disk)
        return out.fail(disk.error());
    auto opened = session::open(config, out);
    if (!opened)
        return out.fail(opened.error());
    auto& talk = **opened;
    // Joined before the coroutines that wait for its threads are destroyed with the session.
    worker_pool workers(config.parallel + 2);
    puller work(talk.get_executor(), config, talk.api(), *disk, workers, out);
    out.note("started",
             {{"into", disk->target.path()}, {"server", config.server}, {"workspace", config.workspace}}, "");
    // A service is told by SIGTERM that its work is over, and a terminal tells by SIGHUP that it is closed.
    const auto on_signal = [&](int number) {
        const bool as_wanted = number != SIGINT && !config.once;
        work.stop(as_wanted ? exit_code::done : exit_code::interrupted);
    };
    return talk.run(work.run(), on_signal);
}

}  // namespace restante::client
