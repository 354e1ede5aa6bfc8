#include "postgres/process.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// The header of glibc 2.36 lacks extern "C".
extern "C" {
#include <sys/pidfd.h>
}

namespace restante {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_output = 64 * 1024;
constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::seconds time_to_end{5};

std::string last_error(const std::string& what)
{
    return what + ": " + std::strerror(errno);
}

int milliseconds_until(clock::time_point deadline)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// Runs in the forked child of a process that may have other threads: only async-signal-safe calls, no
// allocation.
[[noreturn]] void become(char* const* argv, char* const* environment, const account& who, bool change_user,
                         int input, int output, int at_end_of_parent, pid_t parent)
{
    ::setsid();
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::close_range(3, ~0U, 0);

    struct sigaction ordinary = {};
    ordinary.sa_handler = SIG_DFL;
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
        ::sigaction(signal, &ordinary, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);

    // PostgreSQL accesses its working directory; ours may be closed to the other user.
    const bool ready =
        ::chdir("/") == 0 && (!change_user || (::setgroups(who.groups.size(), who.groups.data()) == 0 &&
                                               ::setgid(who.gid) == 0 && ::setuid(who.uid) == 0));
    // After the change of user, which takes it back. The parent may have ended before.
    if (at_end_of_parent != 0) {
        ::prctl(PR_SET_PDEATHSIG, at_end_of_parent);
        if (::getppid() != parent)
            ::_exit(127);
    }
    if (ready)
        ::execve(argv[0], argv, environment);
    const char* reason = ::strerrordesc_np(errno);
    [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, reason, std::strlen(reason));
    ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& strings)
{
    std::vector<char*> out;
    for (auto& s : strings)
        out.push_back(s.data());
    out.push_back(nullptr);
    return out;
}

void keep_tail(std::string& text)
{
    if (text.size() > 2 * max_output)
        text.erase(0, text.size() - max_output);
}

// Reads until every writer has closed the pipe. False on timeout or when interrupted.
bool read_all(int fd, std::string& text, clock::time_point deadline, const interruption& interrupted)
{
    std::array<char, 4096> block;
    for (;;) {
        pollfd readable{fd, POLLIN, 0};
        const auto look_again = std::min(deadline, clock::now() + between_looks);
        const int ready = ::poll(&readable, 1, milliseconds_until(look_again));
        if (interrupted() || (ready == 0 && clock::now() >= deadline))
            return false;
        if (ready <= 0)
            continue;
        const auto n = ::read(fd, block.data(), block.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        text.append(block.data(), static_cast<std::size_t>(n));
        keep_tail(text);
    }
}

}  // namespace

process::process(pid_t pid, unique_fd handle, bool is_child)
    : pid_(pid), handle_(std::move(handle)), is_child_(is_child)
{
}

std::optional<process> process::find(pid_t pid)
{
    unique_fd handle(::pidfd_open(pid, 0));
    if (!handle)
        return std::nullopt;
    return process(pid, std::move(handle), false);
}

bool process::alive()
{
    return !wait_for_end(std::chrono::milliseconds(0));
}

bool process::wait_for_end(std::chrono::milliseconds limit)
{
    const auto deadline = clock::now() + limit;
    while (!ended_) {
        pollfd ended{handle_.get(), POLLIN, 0};
        const int ready = ::poll(&ended, 1, milliseconds_until(deadline));
        if (ready > 0) {
            ended_ = true;
            if (is_child_)
                ::waitpid(pid_, &status_, 0);
        } else if (ready == 0 && clock::now() >= deadline) {
            return false;
        }
    }
    return true;
}

void process::send(int signal)
{
    ::pidfd_send_signal(handle_.get(), signal, nullptr, 0);
}

std::string process::how_it_ended() const
{
    if (WIFSIGNALED(status_))
        return "signal " + std::to_string(WTERMSIG(status_)) + " (" + ::strsignal(WTERMSIG(status_)) + ")";
    return "exit status " + std::to_string(WEXITSTATUS(status_));
}

startup_result<process> spawn(const std::vector<std::string>& argv, const account& who, int output,
                              int at_our_end)
{
    BOOST_ASSERT(!argv.empty());
    auto arguments = argv;
    // A fresh environment: our caller's PGDATA, PGPORT and the like are not meant for this PostgreSQL.
    std::vector<std::string> variables{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/"};
    const auto argument_pointers = pointers(arguments);
    const auto variable_pointers = pointers(variables);
    const bool change_user = !who.is_us();
    const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));

    const pid_t us = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0)
        return startup_failure{last_error("cannot start " + argv[0])};
    if (pid == 0)
        become(argument_pointers.data(), variable_pointers.data(), who, change_user, nothing.get(), output,
               at_our_end, us);

    // The child's pid cannot be reused before this: it remains a zombie until we reap it.
    unique_fd handle(::pidfd_open(pid, 0));
    if (!handle) {
        auto failure = startup_failure{last_error("cannot watch " + argv[0])};
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return failure;
    }
    return process(pid, std::move(handle), true);
}

startup_result<program_output> run_program(const std::vector<std::string>& argv, const account& who,
                                           std::chrono::milliseconds limit, const interruption& interrupted)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return startup_failure{last_error("cannot make a pipe for " + argv[0])};
    const unique_fd from(ends[0]);
    unique_fd to(ends[1]);
    auto child = spawn(argv, who, to.get());
    if (child.has_error())
        return child.error();
    to = unique_fd();

    const auto deadline = clock::now() + limit;
    program_output out;
    const bool closed = read_all(from.get(), out.text, deadline, interrupted);
    if (!closed && interrupted()) {
        child->send(SIGTERM);
        if (!child->wait_for_end(time_to_end))
            child->send(SIGKILL);
        child->wait_for_end(time_to_end);
        return startup_failure{argv[0] + " was interrupted"};
    }
    if (!closed || !child->wait_for_end(std::chrono::milliseconds(milliseconds_until(deadline)))) {
        child->send(SIGKILL);
        child->wait_for_end(std::chrono::seconds(5));
        return startup_failure{argv[0] + " did not end in " + std::to_string(limit.count() / 1000) + " s"};
    }
    out.succeeded = child->succeeded();
    return out;
}

}  // namespace restante
