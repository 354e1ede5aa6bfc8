#pragma once

#include "client/disk.hpp"
#include "client/journal_state.hpp"

#include <memory>

namespace restante::client {

// The journal on disk (journal_state says what is in it), for one process at a time.
class journal {
public:
    // Above this it is written anew, with the facts that still count, once it is twice as long as those.
    static constexpr std::size_t worth_rewriting = 16 << 20;

    // Reads it. Fails with `in_use` when another process has it open.
    static outcome<journal> open(int directory, std::size_t rewrite_above = worth_rewriting);

    const journal_state& facts() const { return facts_; }

    // In the file, but not yet safe from a power failure.
    outcome<void> append(const std::string& lines);
    // After a sync that failed, which may have dropped what it should have written: the next line is appended
    // to a file that was written anew.
    void distrust() { distrusted_ = true; }
    // To be synced; another one after it was written anew.
    const std::shared_ptr<const unique_fd>& handle() const { return file_; }

private:
    outcome<void> open_file();
    outcome<void> rewrite();

    unique_fd directory_;
    unique_fd lock_;
    std::shared_ptr<const unique_fd> file_;
    journal_state facts_;
    std::size_t size_ = 0;
    std::size_t least_rewritten_ = 0;
    std::size_t rewrite_above_ = 0;
    bool distrusted_ = false;
    bool torn_ = false;  // the last append broke off in the middle of a line
};

}  // namespace restante::client
