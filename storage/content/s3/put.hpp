#pragma once

#include "core/sha256.hpp"
#include "storage/content/file_content.hpp"
#include "storage/content/s3/session.hpp"

namespace restante::s3 {

// What is stored with one request; more is sent in parts (multipart_put.hpp).
inline constexpr std::uint64_t largest_single_put = 64ull << 20;

// Stores the whole file. It returns without an error once S3 has confirmed bytes with our digest: a PUT whose
// body does not match the signed digest stores nothing, and neither does one that is cut short. Errors: those
// of session::repeat().
awaitable<error_code> put_object(session& to, std::string object, file_content& file, digest32 digest);

}  // namespace restante::s3
