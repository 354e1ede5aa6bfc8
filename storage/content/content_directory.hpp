#pragma once

#include "core/startup_failure.hpp"
#include "core/unique_fd.hpp"
#include "storage/content/content_store.hpp"
#include "storage/content/known_files.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace restante {

// The directory of a directory_store, for all shards of the process: one folder an hour, one file a key. Only
// this user can read it (0700, files 0600), and no symlink in it is followed.
//
// A part of the disk is left to others, because a database that cannot write its log stops: 5 %, and no more
// than 1 GiB.
//
// Everything here blocks, except what says otherwise, and may be called from any thread. Failures are errno,
// 0 is success. Keys are those of parse_content_key(); another one is EINVAL.
class content_directory {
public:
    // Makes the directory if it is not there. A sentence when it cannot be used, or when others could.
    static startup_result<std::shared_ptr<content_directory>> open(const std::string& path);

    const std::string& path() const { return path_; }

    // A file without a name in this directory. Its bytes, of which this is the digest, are synced and then it
    // is given the name; the folder is still to be synced.
    int open_nameless(unique_fd& out);
    int name(int nameless, const std::string& key, const digest32& digest);
    // The same for bytes that are elsewhere, and for file systems without nameless files: until the copy is
    // finished it has a name that is no key, so that a backup never takes half a file for a whole one.
    int begin_copy(const std::string& key, unique_fd& out);
    int finish_copy(int copied, const std::string& key);

    // Makes the names in the folder of this hour durable.
    int sync_hour(const std::string& hour);

    // The files whose bytes need not be compared with their digests; never blocks.
    known_files& known() { return known_; }

    // `cached_only` never waits for the disk: EAGAIN when it would have to.
    int open_file(const std::string& key, bool cached_only, unique_fd& out) const;

    // What is not there is no error.
    int remove(const std::string& key);

    // Those after `after` and before `before`, in order. Folders that are empty and end before `before` are
    // removed.
    int list(const std::string& after, const std::string& before, std::size_t limit,
             std::vector<listed_content>& out);

    // Looks at the file system; after a failure, whether it can be written to again. Also finds a directory
    // that was removed and is there again under its path.
    void probe();

    // These never block. A failed write is noted until a probe succeeds.
    void note_failure(int error);
    std::optional<std::string> trouble() const;
    // What is left besides the reserve.
    std::uint64_t free_bytes() const { return free_.load(std::memory_order_relaxed); }
    // Counts bytes that are about to be written, as the next probe will see them. False when they would touch
    // the reserve.
    bool take_room(std::uint64_t bytes);

private:
    struct folder {
        unique_fd descriptor;
    };

    content_directory(std::string path, unique_fd root);
    int open_hour(const std::string& hour, std::shared_ptr<folder>& out);
    void forget_hour(const std::string& hour);
    int try_writing();
    bool is_there();

    const std::string path_;
    const unique_fd root_;
    std::mutex guard_;  // of the folders
    std::map<std::string, std::shared_ptr<folder>> hours_;
    known_files known_;
    std::atomic<int> failure_{0};
    std::atomic<std::uint64_t> free_{UINT64_MAX};
};

}  // namespace restante
