#pragma once

#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/files/services.hpp"
#include "storage/pending_uploads.hpp"

namespace restante {

// Opens a part of a file whose row was just read. While it is opened the file may be swept, which is
// not_found, or moved to another store, and then it is opened there. Bytes that are missing although the row
// is still there, or are not those that were stored, are content_lost, which is logged and counted.
//
// A whole file above verified_first is compared with its digest while it is read, wherever that has to be:
// its reader then fails before the last bytes.
awaitable<result<std::unique_ptr<content_reader>>> open_content(files_services& svc, staged_file file,
                                                                content_part part,
                                                                const request_context& req);
inline constexpr std::uint64_t verified_first = 1024 * 1024;

// Logs and counts a file whose bytes are not what its row says.
error_code report_lost(files_services& svc, const staged_file& file, const log_origin& origin);

}  // namespace restante
