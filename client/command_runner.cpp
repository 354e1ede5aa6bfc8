#include "client/command_runner.hpp"

#include "client/disk.hpp"
#include "client/process_group.hpp"
#include "core/deadline.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char** environ;

namespace restante::client {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto time_between_looks = std::chrono::milliseconds(50);

failure command_failure(std::string code, std::string text)
{
    return {exit_code::failed, std::move(code), std::move(text), false};
}

// A file in memory: whatever the command reads of it, nobody waits.
outcome<unique_fd> make_input(const std::string& text)
{
    unique_fd file(::memfd_create("row", MFD_CLOEXEC));
    if (!file)
        return disk_failure("the input of a command", errno);
    if (auto written = write_all(file.get(), text, "the input of a command"); !written)
        return written.error();
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

// Ours, with the additions in place of what has the same names, and without the token.
std::vector<std::string> make_environment(const command_to_run& what)
{
    std::vector<std::string> out;
    for (char** each = environ; *each; ++each) {
        const std::string_view entry(*each);
        const auto name = entry.substr(0, entry.find('='));
        const auto same = [&](const auto& added) { return added.first == name; };
        if (name != "RESTANTE_TOKEN" && std::none_of(what.environment.begin(), what.environment.end(), same))
            out.emplace_back(entry);
    }
    for (const auto& [name, value] : what.environment)
        out.push_back(name + '=' + value);
    return out;
}

class spawn_plan {
public:
    spawn_plan()
    {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    ~spawn_plan()
    {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    spawn_plan(const spawn_plan&) = delete;
    spawn_plan& operator=(const spawn_plan&) = delete;

    void fill(int input, bool output_to_stderr)
    {
        ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (output_to_stderr)
            ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        sigset_t all;
        sigfillset(&all);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        sigset_t none;
        sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

// A process group; killed if it is still there at the end.
class child {
public:
    explicit child(pid_t pid) : pid_(pid) {}
    ~child()
    {
        if (pid_ <= 0)
            return;
        signal(SIGKILL);
        wait();
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    void signal(int number) const { ::kill(-pid_, number); }
    int wait()
    {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        return status;
    }

private:
    pid_t pid_;
};

outcome<pid_t> start(const command_to_run& what)
{
    const auto input = make_input(what.input);
    if (!input)
        return input.error();
    spawn_plan plan;
    plan.fill(input->get(), what.output_to_stderr);
    const auto variables = make_environment(what);
    std::vector<char*> environment;
    for (const auto& each : variables)
        environment.push_back(const_cast<char*>(each.c_str()));
    environment.push_back(nullptr);
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = what.shell_text;
    char* const words[] = {shell.data(), flag.data(), text.data(), nullptr};
    pid_t pid = 0;
    const int error =
        ::posix_spawn(&pid, "/bin/sh", &plan.actions, &plan.attributes, words, environment.data());
    if (error != 0)
        return command_failure("command_failed",
                               "The command cannot be run: " + std::string(std::strerror(error)));
    return pid;
}

awaitable<void> await_end_of_group(pid_t group, clock::time_point until)
{
    steady_timer timer(co_await asio::this_coro::executor);
    while (clock::now() < until && has_running_process(group)) {
        timer.expires_after(time_between_looks);
        co_await timer.async_wait(use_await);
    }
}

}  // namespace

awaitable<outcome<void>> run_command(command_to_run what, task_group& owner)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto pid = start(what);
    if (!pid)
        co_return pid.error();
    child running(*pid);
    asio::posix::basic_stream_descriptor<executor> ended(ex);
    const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
    if (handle < 0)
        co_return command_failure("command_failed", "The command cannot be waited for.");
    ended.assign(handle);

    std::optional<clock::time_point> kill_at;  // once it has to end
    deadline kill_limit(ex, [&running] { running.signal(SIGKILL); });
    const auto end = [&] {
        if (kill_at)
            return;
        running.signal(SIGTERM);
        kill_at = clock::now() + time_to_end;
        kill_limit.expires_at(*kill_at);
    };
    bool too_long = false;
    deadline limit(ex, [&] {
        too_long = true;
        end();
    });
    limit.expires_after(what.timeout);
    const task_group::stop_callback on_stop(owner, end);
    const auto [ec] = co_await ended.async_wait(asio::posix::descriptor_base::wait_read, use_tuple);
    if (ec)
        co_return command_failure("command_failed", "The command was stopped.");
    // The shell has ended; what it has started may still run. No other group gets its number before it is
    // waited for.
    if (kill_at) {
        co_await await_end_of_group(*pid, *kill_at);
        running.signal(SIGKILL);
    }
    const int status = running.wait();
    if (too_long)
        co_return command_failure("command_timeout", "The command took too long and was killed.");
    if (WIFSIGNALED(status))
        co_return command_failure(
            "command_failed", "The command was killed by signal " + std::to_string(WTERMSIG(status)) + '.');
    if (WEXITSTATUS(status) != 0)
        co_return command_failure("command_failed", "The command failed with exit code " +
                                                        std::to_string(WEXITSTATUS(status)) + '.');
    co_return outcome<void>();
}

}  // namespace restante::client
