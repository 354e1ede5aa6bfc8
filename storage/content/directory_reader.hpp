#pragma once

#include "core/unique_fd.hpp"
#include "storage/content/content_store.hpp"
#include "storage/content/file_checks.hpp"

#include <vector>

namespace restante {

// A part of a file in the content directory. A file that is known to be right is passed on as it is. Of any
// other, somebody may have damaged the bytes: read as a whole it is hashed while it passes, and its last
// bytes come only when the digest is right; whoever wants a part of it calls verify() first.
class directory_reader final : public content_reader {
public:
    directory_reader(file_checks& checks, unique_fd file, const file_identity& which, const digest32& digest,
                     content_part part);

    awaitable<result<std::span<const char>>> next() override;
    awaitable<error_code> verify() override;
    std::optional<file_range> file() const override;

private:
    awaitable<result<std::span<const char>>> next_hashed();
    bool is_whole() const { return part_.length == which_.size; }

    file_checks& checks_;
    unique_fd file_;
    file_identity which_;
    digest32 digest_;
    content_part part_;
    std::uint64_t at_;
    bool is_right_;
    sha256 hash_;
    std::vector<char> block_;
};

}  // namespace restante
