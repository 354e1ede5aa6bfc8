#pragma once

#include "core/startup_failure.hpp"
#include "storage/embedded_sql.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// One numbered pair of sql/. The texts belong to the files that it was made from.
struct migration {
    int number = 0;
    std::string_view name;  // "0002_activity"
    std::string_view up;
    std::string_view down;
    std::string checksum;                // SHA-256 of the up text, in hex
    std::optional<int> compatible_from;  // the oldest schema whose servers work with it; none does if empty
};

// A row of schema_migrations.
struct applied_migration {
    int number = 0;
    std::string checksum;
    std::optional<int> compatible_from;
};

enum class direction { up, down };

struct migration_step {
    direction way = direction::up;
    const migration* what = nullptr;
};

// The migrations in order, numbered 1, 2, 3 … Fails when a file is named otherwise than NNNN_name.up.sql or
// NNNN_name.down.sql, when one of a pair is missing, or when a number is missing or given twice.
//
// An up file whose leading comment has the line
//
//   -- compatible with servers from schema 7
//
// works with servers that know the migrations up to 7 or more: during a rolling upgrade they can be
// restarted. Without that line older servers refuse to start. Fails when the line names no earlier migration.
startup_result<std::vector<migration>> read_migrations(std::span<const embedded_file> files);

// What to run, in order, to bring a database with these applied migrations to a target (the newest when none
// is named). Nothing is to be done for a database that is newer than this binary and compatible with it.
// Fails when an applied migration was edited afterwards, when the database is newer and not compatible or a
// target is named, when its history has a gap, and when the target does not exist. The steps point into
// `known`.
startup_result<std::vector<migration_step>> plan_migration(std::span<const migration> known,
                                                           std::span<const applied_migration> applied,
                                                           std::optional<int> target);

}  // namespace restante
