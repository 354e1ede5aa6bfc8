#pragma once

#include "test/support/database.hpp"

#include <string>

namespace restante::test {

// Staged files inserted directly into the table, each of `bytes` bytes; the times are SQL expressions that
// may use i.
struct staged_rows {
    int count = 1;
    std::string acked_at = "NULL";
    std::string expires_at = "now() + interval '1 day'";
    std::string fetched_at = "NULL";
    int bytes = 100;
};

inline void stage_rows(const scratch_database& db, const staged_rows& rows)
{
    db.sql(
        "INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, acked_at, "
        "expires_at, "
        "fetched_at) SELECT gen_random_uuid(), c, octet_length(c), 'f.txt', sha256(c), " +
        rows.acked_at + ", " + rows.expires_at + ", " + rows.fetched_at + " FROM generate_series(1, " +
        std::to_string(rows.count) + ") AS i, LATERAL (SELECT convert_to(repeat('x', " +
        std::to_string(rows.bytes) + " + 0 * i), 'UTF8') AS c) AS bytes");
}

}  // namespace restante::test
