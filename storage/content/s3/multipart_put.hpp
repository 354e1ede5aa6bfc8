#pragma once

#include "storage/content/file_content.hpp"
#include "storage/content/s3/session.hpp"

namespace restante::s3 {

inline constexpr std::uint64_t part_size = 32ull << 20;

// Stores the file part by part, each signed with its own digest and repeated by itself. No object is there
// before all of them are. Parts of an upload that fails are aborted; those that the abort does not reach are
// found by abort_stale_uploads(). Errors: those of session::repeat(), and what reading the file returned.
awaitable<error_code> put_in_parts(session& to, std::string object, file_content& file);

// Aborts uploads in parts that were begun before this time and never completed.
awaitable<result<std::size_t>> abort_stale_uploads(session& at, timestamp begun_before);

}  // namespace restante::s3
