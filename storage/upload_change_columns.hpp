#pragma once

#include "storage/pq/result.hpp"
#include "storage/upload_events.hpp"

namespace restante {

// What a statement that changes files returns of each, for its event: `of` is the table's alias, `at` the
// expression of the moment.
#define UPLOAD_CHANGE_COLUMNS(of, at)                                                                  \
    of ".workspace_id, " of ".file_id, " of ".filename, " of ".size_bytes, " of ".sha256, " at ", " of \
       ".staged_by"
inline constexpr int upload_change_moment = 5;
inline constexpr int upload_change_columns = 7;

// A row that begins with those columns.
result<upload_change> read_upload_change(const pq::row& row);
result<std::vector<upload_change>> read_upload_changes(const pq::result_set& rows);

}  // namespace restante
