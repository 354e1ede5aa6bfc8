#pragma once

#include "core/sha256.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace restante {

// What tells one state of a file from another: whoever writes to a file, replaces it, or gives it another
// name changes its inode or the time of the inode's last change.
struct file_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const file_identity&) const = default;
};

// Nothing when it cannot be had; never waits for the disk, because the file is open.
std::optional<file_identity> identify(int file);

// The files whose digests this process knows, because it has written them or has read all of them: what comes
// from such a file is what was hashed. The latest are remembered; whoever is forgotten is hashed again. May
// be used by any thread.
class known_files {
public:
    explicit known_files(std::size_t most = 8192) : most_(most) {}

    void remember(const file_identity& which, const digest32& digest);
    bool knows(const file_identity& which, const digest32& digest) const;

private:
    struct entry {
        file_identity which;
        digest32 digest;
    };
    using by_inode = std::unordered_map<std::uint64_t, entry>;

    // Two generations: when the younger one is full, the older one is forgotten.
    const std::size_t most_;
    mutable std::mutex guard_;
    by_inode younger_;
    by_inode older_;
};

}  // namespace restante
