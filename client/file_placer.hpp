#pragma once

#include "client/disk.hpp"
#include "client/file_naming.hpp"
#include "core/ids.hpp"

#include <memory>

namespace restante::client {

// The directory that gets the files. Names are looked up in the open directory and never through a path, so
// that nothing leads outside.
class target_directory {
public:
    // Makes it if only its last part is missing, and takes its lock. Fails with `in_use` when another pull
    // has it.
    static outcome<target_directory> open(const std::string& path);

    int get() const { return fd_->get(); }
    // The open directory, for somebody who syncs it while it may be replaced by reopen().
    std::shared_ptr<const unique_fd> handle() const { return fd_; }
    const std::string& path() const { return path_; }  // absolute
    std::string path_of(const std::string& name) const;

    bool has(const std::string& name) const;
    // Whether both names lead to one file.
    bool is_same_file(const std::string& name, int directory, const std::string& other) const;

    // Moves the file here under this name; false if the name is taken.
    outcome<bool> take(int from, const std::string& partial, const std::string& name) const;
    // After it was removed: the directory that is there now, if there is one.
    outcome<void> reopen();

private:
    std::shared_ptr<const unique_fd> fd_;
    std::string path_;
};

}  // namespace restante::client
