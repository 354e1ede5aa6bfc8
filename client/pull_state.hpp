#pragma once

#include "client/file_placer.hpp"
#include "client/journal.hpp"

namespace restante::client {

// Everything that a pull keeps on disk: the directory that gets the files, partial files, the journal.
//
// Journal and partial files are together in one place, so that what the journal says about a partial file is
// about a file that is there: below $XDG_STATE_HOME/restante, or in a hidden directory beside the files when
// those are on another file system, into which nothing can be renamed from there.
struct pull_state {
    target_directory target;
    std::shared_ptr<const unique_fd> partials;
    journal log;

    // For one workspace, whatever its server is called today.
    static outcome<pull_state> open(const std::string& into, const std::string& state_home,
                                    const std::string& workspace);

    // Nothing can be moved from the partial files into the directory, whatever comes back: they were removed
    // with it, or another file system was mounted in its place. Only a new start helps.
    bool is_cut_off() const;
};

}  // namespace restante::client
