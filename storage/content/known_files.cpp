#include "storage/content/known_files.hpp"

#include <sys/stat.h>
#include <utility>

namespace restante {

std::optional<file_identity> identify(int file)
{
    struct stat info {};
    if (::fstat(file, &info) != 0)
        return std::nullopt;
    return file_identity{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size),
                         info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

void known_files::remember(const file_identity& which, const digest32& digest)
{
    const std::lock_guard lock(guard_);
    if (younger_.size() >= most_ && !younger_.contains(which.inode))
        older_ = std::exchange(younger_, {});
    younger_[which.inode] = {which, digest};
}

bool known_files::knows(const file_identity& which, const digest32& digest) const
{
    const std::lock_guard lock(guard_);
    for (const auto* each : {&younger_, &older_}) {
        const auto found = each->find(which.inode);
        if (found != each->end())
            return found->second.which == which && found->second.digest == digest;
    }
    return false;
}

}  // namespace restante
