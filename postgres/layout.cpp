#include "postgres/layout.hpp"

#include "postgres/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace restante {

namespace {

namespace fs = std::filesystem;

startup_failure cannot(const std::string& what, const fs::path& path)
{
    return startup_failure{"cannot " + what + " " + path.string() + ": " + std::strerror(errno)};
}

std::optional<startup_failure> make_directory(const fs::path& path, mode_t mode, const account& owner)
{
    if (::mkdir(path.c_str(), mode) != 0)
        return errno == EEXIST ? std::nullopt : std::optional(cannot("make", path));
    if (!owner.is_us() && ::chown(path.c_str(), owner.uid, owner.gid) != 0)
        return cannot("give away", path);
    return std::nullopt;
}

// A directory, not a link to one, that only this account can access.
bool is_private_to(const fs::path& path, const account& who)
{
    struct stat info = {};
    return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == who.uid &&
           (info.st_mode & 077) == 0;
}

std::optional<startup_failure> check_owner(const fs::path& path, const account& who)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return errno == ENOENT ? std::nullopt : std::optional(cannot("look at", path));
    if (info.st_uid == who.uid)
        return std::nullopt;
    return startup_failure{path.string() + " belongs to " + user_name(info.st_uid) +
                           ", but PostgreSQL would run as " + who.name +
                           ": start the server as the user who made it, or choose another --data-dir"};
}

bool can_enter(const fs::path& path, const account& who)
{
    const auto tried = run_program({"/usr/bin/test", "-x", path}, who, std::chrono::seconds(10));
    return tried.has_value() && tried->succeeded;
}

// Only checked if PostgreSQL runs as another user.
std::optional<startup_failure> check_reachable(const fs::path& path, const account& who)
{
    if (who.is_us() || can_enter(path, who))
        return std::nullopt;
    fs::path so_far;
    for (const auto& part : path) {
        so_far /= part;
        if (!can_enter(so_far, who))
            break;
    }
    return startup_failure{"the user " + who.name +
                           ", who runs PostgreSQL because root may not, cannot enter " + so_far.string() +
                           ": choose a data directory that it can reach, for example " +
                           "--data-dir /var/lib/restante"};
}

postgres_layout layout_below(const fs::path& canonical)
{
    const auto root = canonical / "postgres";
    return {root, root / "data", root / "socket", root / "log"};
}

fs::path socket_record(const postgres_layout& layout)
{
    return layout.root / "socket_directory";
}

// The socket's directory that an earlier start recorded, unless it has gone.
std::optional<fs::path> recorded_socket(const postgres_layout& layout, const account& who)
{
    std::ifstream in(socket_record(layout));
    std::string recorded;
    if (std::getline(in, recorded) && is_private_to(recorded, who))
        return recorded;
    return std::nullopt;
}

// An unguessable name in /tmp, recorded so that it is found again after a crash.
std::optional<startup_failure> put_socket_elsewhere(postgres_layout& layout, const account& who)
{
    if (const auto recorded = recorded_socket(layout, who)) {
        layout.socket = *recorded;
        return std::nullopt;
    }

    char name[] = "/tmp/restante-XXXXXX";
    if (!::mkdtemp(name))
        return cannot("make", name);
    if (!who.is_us() && ::chown(name, who.uid, who.gid) != 0)
        return cannot("give away", name);
    std::ofstream out(socket_record(layout));
    if (!(out << name << '\n').flush())
        return cannot("write", socket_record(layout));
    layout.socket = name;
    return std::nullopt;
}

std::optional<startup_failure> put_socket(postgres_layout& layout, const account& who)
{
    if (!fits_a_socket(layout.socket))
        return put_socket_elsewhere(layout, who);
    return make_directory(layout.socket, 0700, who);
}

// The holder of the lock wrote its pid there.
std::string holder_of(int fd)
{
    std::array<char, 32> text = {};
    const auto n = ::pread(fd, text.data(), text.size() - 1, 0);
    return n > 0 ? " (process " + std::string(text.data(), static_cast<std::size_t>(n)) + ")" : "";
}

}  // namespace

startup_result<postgres_layout> prepare_layout(const fs::path& data_dir, const account& who)
{
    std::error_code ec;
    const bool is_new = fs::create_directories(data_dir, ec);
    if (ec)
        return startup_failure{"cannot make the data directory " + data_dir.string() + ": " + ec.message()};
    const auto canonical = fs::canonical(data_dir, ec);
    if (ec)
        return startup_failure{"cannot look at the data directory " + data_dir.string() + ": " +
                               ec.message()};
    // Root's umask may have closed it to the account that runs PostgreSQL.
    if (is_new && !who.is_us())
        fs::permissions(canonical, fs::perms::others_exec, fs::perm_options::add, ec);

    auto layout = layout_below(canonical);
    // Another account must be able to traverse it, but not to list it.
    const account self{::geteuid(), ::getegid(), "", {}};
    if (const auto wrong = make_directory(layout.root, who.is_us() ? 0700 : 0711, self))
        return *wrong;
    if (const auto wrong = check_owner(layout.data, who))
        return *wrong;
    if (const auto wrong = check_reachable(layout.root, who))
        return *wrong;

    if (const auto wrong = put_socket(layout, who))
        return *wrong;
    return layout;
}

std::optional<postgres_layout> find_layout(const fs::path& data_dir, const account& who)
{
    std::error_code ec;
    auto layout = layout_below(fs::canonical(data_dir, ec));
    if (ec || !fs::exists(layout.data, ec))
        return std::nullopt;
    if (fits_a_socket(layout.socket))
        return layout;
    const auto elsewhere = recorded_socket(layout, who);
    if (!elsewhere)
        return std::nullopt;
    layout.socket = *elsewhere;
    return layout;
}

startup_result<unique_fd> lock_layout(const postgres_layout& layout)
{
    const auto path = layout.root / "server.lock";
    unique_fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock)
        return cannot("open", path);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return cannot("lock", path);
        return startup_failure{"another restante server" + holder_of(lock.get()) + " uses " +
                               layout.root.parent_path().string() +
                               ": stop it, or choose another --data-dir"};
    }
    // Only for the error message above, so a full disk does not matter here.
    const auto number = std::to_string(::getpid());
    if (::ftruncate(lock.get(), 0) == 0) [[maybe_unused]]
        const auto ignored = ::pwrite(lock.get(), number.data(), number.size(), 0);
    return lock;
}

bool fits_a_socket(const fs::path& directory)
{
    constexpr std::string_view file = "/.s.PGSQL.5432";
    const auto& name = directory.native();
    const auto is_plain = [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::strchr("/._-+@%=~", c) != nullptr;
    };
    return name.starts_with('/') && name.size() + file.size() < sizeof(sockaddr_un::sun_path) &&
           std::ranges::all_of(name, is_plain);
}

}  // namespace restante
