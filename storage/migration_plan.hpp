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
    std::string checksum;  // SHA-256 of the up text, in hex
};

// A row of schema_migrations.
struct applied_migration {
    int number = 0;
    std::string checksum;
};

enum class direction { up, down };

struct migration_step {
    direction way = direction::up;
    const migration* what = nullptr;
};

// The migrations in order, numbered 1, 2, 3 … Fails when a file is named otherwise than NNNN_name.up.sql or
// NNNN_name.down.sql, when one of a pair is missing, or when a number is missing or given twice.
startup_result<std::vector<migration>> read_migrations(std::span<const embedded_file> files);

// What to run, in order, to bring a database with these applied migrations to a target (the newest when none
// is named). Fails when an applied migration was edited afterwards, when the database is newer than this
// binary, when its history has a gap, and when the target does not exist. The steps point into `known`.
startup_result<std::vector<migration_step>> plan_migration(std::span<const migration> known,
                                                           std::span<const applied_migration> applied,
                                                           std::optional<int> target);

}  // namespace restante
