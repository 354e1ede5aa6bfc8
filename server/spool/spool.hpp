#pragma once

#include "core/sha256.hpp"
#include "core/startup_failure.hpp"
#include "server/spool/block_allocator.hpp"
#include "server/spool/spool_budget.hpp"
#include "storage/content/file_content.hpp"

#include <memory>
#include <vector>

namespace restante {

// The bytes of one file while it is being received: in memory up to 1 MiB as long as the process has memory
// to spare, in a temporary file beyond that. The file has no name, so nothing is left behind however this
// ends. Bytes are hashed as they come.
//
// write() and finish() fail with no_room when the disk budget, the disk or the descriptors are used up,
// io_error when the disk fails; with content_store_unavailable when the disk is that of the content store.
//
// It can be read while it is written, as far as available().
class spool final : public file_content {
public:
    // Most files of a chat fit and never reach the disk; a limit of 256 KiB cost an upload of 1 MiB half as
    // much CPU again.
    static constexpr std::size_t memory_limit = 1024 * 1024;

    enum class hashing { on, off };

    // The claim is that of the request, for all of its spools.
    explicit spool(std::shared_ptr<disk_claim> disk, hashing digest = hashing::on)
        : disk_(std::move(disk)),
          memory_(&disk_->budget().memory, memory_use::spool, disk_->owner()),
          hashes_(digest == hashing::on)
    {
    }
    ~spool() override;
    spool(const spool&) = delete;
    spool& operator=(const spool&) = delete;

    awaitable<error_code> write(std::span<const char> bytes);

    // No more bytes will come.
    awaitable<error_code> finish();
    const digest32& digest() const { return digest_; }

    // How many bytes can be read already.
    std::uint64_t available() const { return on_disk_ + buffer_.size(); }

    std::uint64_t size() const override { return size_; }
    std::optional<std::span<const char>> in_memory() const override;
    awaitable<result<std::span<const char>>> read(std::uint64_t offset, std::span<char> into) override;
    int nameless_file() const override { return in_store_ && finished_ ? file_ : -1; }

private:
    error_code disk_failure(const char* what, int reason) const;
    void make_room_in_memory(std::size_t more);
    awaitable<error_code> spill_buffer();
    awaitable<error_code> spill(std::span<const char> bytes);

    std::shared_ptr<disk_claim> disk_;
    memory_charge memory_;
    bool hashes_;
    sha256 hash_;
    digest32 digest_{};
    std::uint64_t size_ = 0;
    std::vector<char, block_allocator> buffer_;  // the whole file, or what was not yet written to it
    std::size_t capacity_ = 0;                   // of the buffer, as charged
    int file_ = -1;                              // a worker opens it
    bool in_store_ = false;                      // in the directory of the content store
    bool finished_ = false;
    std::uint64_t on_disk_ = 0;
};

// Whether files can be spooled there. A sentence when it is not there or not open to us; a disk that is full
// or read-only now may not be so later.
startup_result<void> check_spool_directory(const std::string& directory);

}  // namespace restante
