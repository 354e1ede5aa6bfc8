#include "client/token_command.hpp"

#include "client/token.hpp"
#include "core/unique_fd.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char** environ;

namespace restante::client {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

failure command_failure(const std::string& how)
{
    return {exit_code::unauthorized, "token_command_failed", "The token command " + how + '.'};
}

failure not_run(int error)
{
    return command_failure("cannot be run: " + std::string(std::strerror(error)));
}

// It may ask for a password there, and only the process group of the shell that we were started from may.
bool has_terminal()
{
    return static_cast<bool>(unique_fd(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)));
}

// Killed, and waited for, if it was not waited for.
class child {
public:
    child(pid_t pid, bool group) : pid_(pid), group_(group) {}
    ~child()
    {
        if (pid_ <= 0)
            return;
        ::kill(group_ ? -pid_ : pid_, SIGKILL);
        wait();
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;

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
    bool group_;
};

// 0, or the error.
int start(const std::string& command, int output, bool group, pid_t& pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    // This program ignores SIGPIPE.
    sigset_t all;
    sigfillset(&all);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    const int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (group ? POSIX_SPAWN_SETPGROUP : 0);
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    char* const words[] = {shell.data(), flag.data(), text.data(), nullptr};
    const int error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, words, environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Takes what is there; false at its end, or when it is more than a token.
bool read_more(int from, std::string& to)
{
    char block[4096];
    for (;;) {
        const auto n = ::read(from, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        to.append(block, static_cast<std::size_t>(n));
        if (to.size() > longest_token)
            return false;
    }
}

}  // namespace

outcome<std::string> run_token_command(const std::string& command, milliseconds limit)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return not_run(errno);
    const unique_fd output(ends[0]);
    unique_fd input(ends[1]);
    ::fcntl(input.get(), F_SETFL, 0);  // the command's end is an ordinary one
    const bool group = !has_terminal();
    pid_t pid = 0;
    if (const int error = start(command, input.get(), group, pid))
        return not_run(error);
    input = unique_fd();
    child running(pid, group);
    const unique_fd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!ended)
        return not_run(errno);

    std::string text;
    pollfd both[] = {{output.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    for (const auto until = clock::now() + limit;;) {
        const auto left = std::chrono::ceil<milliseconds>(until - clock::now());
        if (left.count() <= 0)
            return command_failure("took longer than " + std::to_string(limit.count() / 1000) +
                                   " s and was killed");
        const int ready = ::poll(both, 2, static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR)
            return not_run(errno);
        // In this order: what it has printed before it ended is read.
        const bool over = ready > 0 && both[1].revents != 0;
        if (ready > 0 && both[0].fd >= 0 && (over || both[0].revents != 0) && !read_more(output.get(), text))
            both[0].fd = -1;
        if (over || text.size() > longest_token)
            break;
    }
    if (text.size() > longest_token)
        return text;  // which is no token, and the rest of it does not matter
    const int status = running.wait();
    if (WIFSIGNALED(status))
        return command_failure("was killed by signal " + std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return command_failure("failed with exit code " + std::to_string(WEXITSTATUS(status)));
    return text;
}

}  // namespace restante::client
