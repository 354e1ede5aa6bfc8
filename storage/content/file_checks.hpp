#pragma once

#include "core/error.hpp"
#include "core/wakeup.hpp"
#include "storage/content/known_files.hpp"

#include <set>

namespace restante {

// Compares whole files with their digests, on workers, for one shard. Those who ask for the same file at the
// same time share the work, so that many small ranges of a large file cost one reading of it. Large files wait
// for each other, small ones for nobody.
class file_checks {
public:
    file_checks(executor ex, known_files& known) : known_(known), ended_(ex) {}

    known_files& known() { return known_; }

    // Errors: content_lost, content_store_unavailable. The file must stay open until this returns.
    awaitable<error_code> verify(int file, file_identity which, digest32 digest);

private:
    known_files& known_;
    std::set<std::uint64_t> running_;  // inodes
    std::size_t large_running_ = 0;
    wakeup ended_;
};

}  // namespace restante
