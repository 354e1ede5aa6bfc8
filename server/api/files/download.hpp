#pragma once

#include "http/message/byte_range.hpp"
#include "http/message/response.hpp"
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

// Copies a large file, or a part of it, from the database into a spool, as fast as the database sends it.
// Errors are those of pending_uploads::read_content and of the spool.
awaitable<result<std::shared_ptr<spool>>> spool_content(pending_uploads& uploads, spool_budget& budget,
                                                        uuid workspace, uuid file, byte_range part);

}  // namespace restante
