#pragma once

#include "client/disk.hpp"
#include "core/ids.hpp"
#include "core/sha256.hpp"

#include <cstdint>
#include <span>

namespace restante::client {

// A file that is being fetched, under its id, hashed as it grows. Blocking; used from one thread at a time.
class partial_file {
public:
    // Opens what is there, or makes an empty one.
    static outcome<partial_file> open(int directory, const uuid& file);

    std::uint64_t size() const { return size_; }
    outcome<void> append(std::span<const char> bytes);
    // Takes the room on the disk for what is missing of so many bytes, where that is much and the file system
    // can: fails with disk_full before bytes are fetched that would find no place. The size stays.
    outcome<void> reserve(std::uint64_t whole) const;
    // Throws away what is there.
    outcome<void> restart();
    // Of everything, in hexadecimal; once.
    std::string finish_digest();
    outcome<void> sync() const;

private:
    outcome<void> hash_what_is_there();
    // By an earlier reserve(), which counts as used and is this file's.
    std::uint64_t held_room() const;

    unique_fd file_;
    std::uint64_t size_ = 0;
    sha256 digest_;
};

// Its size, if there is one.
std::optional<std::uint64_t> partial_size(int directory, const uuid& file);
void remove_partial(int directory, const uuid& file);

}  // namespace restante::client
