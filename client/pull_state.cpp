#include "client/pull_state.hpp"

#include "core/encoding.hpp"
#include "core/sha256.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace restante::client {

namespace {

// An empty file, moved to and fro: one try says more than device numbers. Bind mounts share those, and still
// refuse.
class probe {
public:
    static outcome<probe> make(int directory)
    {
        probe out(directory);
        const unique_fd file(
            ::openat(directory, out.name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file)
            return disk_failure("the directory of the journal", errno);
        return out;
    }

    // Takes it away. False when the other directory is on another file system.
    outcome<bool> can_move_to(const target_directory& other) const
    {
        const int error = ::renameat(directory_, name_.c_str(), other.get(), name_.c_str()) == 0 ? 0 : errno;
        ::unlinkat(error == 0 ? other.get() : directory_, name_.c_str(), 0);
        if (error != 0 && error != EXDEV)
            return disk_failure(other.path(), error);
        return error == 0;
    }

private:
    explicit probe(int directory) : directory_(directory), name_(".restante-" + to_string(make_uuid_v4())) {}

    int directory_;
    std::string name_;
};

// A directory below one that others may write to could have been put there by them, with files of theirs.
outcome<unique_fd> open_private(const std::string& path)
{
    auto opened = open_directory(path);
    struct stat facts{};
    if (!opened || ::fstat(opened->get(), &facts) != 0)
        return opened;
    if (facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return failure{exit_code::failed, "not_private",
                       path + " must belong to this user, and nobody else may be able to write to it."};
    return opened;
}

outcome<unique_fd> make_state_directory(const target_directory& target, const std::string& state_home,
                                        const std::string& key)
{
    const auto usual = state_home + '/' + key;
    if (auto made = make_directories(usual + "/partial"); !made)
        return made.error();
    auto opened = open_private(usual);
    if (!opened)
        return opened;
    // On any other error than this the journal beside the files would be another, and an empty one.
    const auto tried = probe::make(opened->get());
    if (!tried)
        return tried.error();
    const auto moves = tried->can_move_to(target);
    if (!moves)
        return moves.error();
    if (*moves)
        return opened;
    const auto beside = target.path_of(".restante") + '/' + key;
    if (auto made = make_directories(beside + "/partial"); !made)
        return made.error();
    return open_private(beside);
}

}  // namespace

outcome<pull_state> pull_state::open(const std::string& into, const std::string& state_home,
                                     const std::string& workspace)
{
    pull_state out;
    auto target = target_directory::open(into);
    if (!target)
        return target.error();
    out.target = *std::move(target);

    const auto digest = to_hex(sha256_of(out.target.path()));
    auto state =
        make_state_directory(out.target, state_home, "pull-" + workspace + '-' + digest.substr(0, 16));
    if (!state)
        return state.error();
    unique_fd partials(::openat(state->get(), "partial", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!partials)
        return disk_failure("the directory of partial files", errno);
    out.partials = std::make_shared<const unique_fd>(std::move(partials));
    auto log = journal::open(state->get());
    if (!log)
        return log.error();
    out.log = *std::move(log);
    if (auto synced = sync(state->get(), "the directory of the journal"); !synced)
        return synced.error();
    return out;
}

bool pull_state::is_cut_off() const
{
    const auto tried = probe::make(partials->get());
    if (!tried)
        return tried.error().code == "directory_gone";
    const auto moves = tried->can_move_to(target);
    return moves && !*moves;
}

}  // namespace restante::client
