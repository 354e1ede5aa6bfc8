#pragma once

#include "http/message/byte_range.hpp"
#include "http/message/response.hpp"
#include "http/session/request_context.hpp"
#include "server/api/files/services.hpp"
#include "server/spool/spool.hpp"
#include "storage/pending_uploads.hpp"

#include <functional>
#include <memory>

namespace restante {

// Bytes that came with the file's row. For HEAD they may be absent: only the length is sent.
std::unique_ptr<body_source> make_memory_download(std::shared_ptr<const void> holder,
                                                  std::span<const char> bytes,
                                                  std::function<void()> on_complete, std::uint64_t length);

// Bytes that were spooled: a slow client holds a temporary file and one block, and no database connection.
std::unique_ptr<body_source> make_spooled_download(std::shared_ptr<spool> bytes,
                                                   std::function<void()> on_complete);
// What the block of such a download is charged with.
inline constexpr std::size_t download_block = 256 * 1024;

// Brings a large file, or a part of it, from the database into a spool, as fast as the database gives it. A
// client that hangs up ends it within a slice. Errors are those of pending_uploads::read_content and of the
// spool, no_room before anything is read, and client_gone.
awaitable<result<std::shared_ptr<spool>>> spool_content(request_context& req, files_services& svc,
                                                        byte_range part);

}  // namespace restante
