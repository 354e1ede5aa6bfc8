#pragma once

#include "core/task_group.hpp"
#include "server/api/files/download.hpp"
#include "server/spool/spool.hpp"
#include "storage/content/content_store.hpp"

namespace restante {

// For a reader that must not wait for a client (it holds a database connection): a task drains it into a
// spool as fast as the bytes come, and they are sent from there. The first byte is sent after the first
// slice; a slow client holds a temporary file. When the reader fails, the answer is cut short of its
// Content-Length; and so it is when the bytes do not have the digest, which is given where they are a whole
// file.
std::unique_ptr<body_source> make_read_ahead_download(task_group& tasks, std::unique_ptr<content_reader> from,
                                                      std::uint64_t length, std::optional<digest32> digest,
                                                      std::shared_ptr<disk_claim> disk, download_end end,
                                                      const trace_context& trace);

}  // namespace restante
