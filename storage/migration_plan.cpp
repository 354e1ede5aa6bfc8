#include "storage/migration_plan.hpp"

#include "core/decimal.hpp"
#include "core/encoding.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace restante {

namespace {

constexpr std::string_view up_suffix = ".up.sql";
constexpr std::string_view down_suffix = ".down.sql";
constexpr std::string_view compatibility_mark = "-- compatible with servers from schema ";
constexpr std::size_t digits = 4;

// "0002_activity" → 2
std::optional<int> number_of(std::string_view name)
{
    if (name.size() < digits + 2 || name[digits] != '_')
        return std::nullopt;
    const auto number = parse_decimal(name.substr(0, digits));
    return number && *number > 0 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// Sets compatible_from from the up file's leading comment. Returns what is wrong with it, or nothing.
std::optional<startup_failure> read_compatibility(migration& m)
{
    std::string_view rest = m.up;
    while (rest.starts_with("--")) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (!line.starts_with(compatibility_mark))
            continue;
        const auto oldest = parse_decimal(line.substr(compatibility_mark.size()));
        if (!oldest || *oldest < 1 || *oldest >= static_cast<std::uint64_t>(m.number))
            return startup_failure{"migration " + std::string(m.name) + " must name an earlier one in \"" +
                                   std::string(line) + '"'};
        m.compatible_from = static_cast<int>(*oldest);
    }
    return std::nullopt;
}

std::string described(const migration& m)
{
    return "migration " + std::string(m.name);
}

// Puts a file into its pair. Returns what is wrong with it, or nothing.
std::optional<startup_failure> add_file(std::map<int, migration>& pairs, const embedded_file& file)
{
    const bool is_up = file.name.ends_with(up_suffix);
    const bool is_down = file.name.ends_with(down_suffix);
    const auto suffix = is_up ? up_suffix : down_suffix;
    const auto name = file.name.substr(0, file.name.size() - std::min(file.name.size(), suffix.size()));
    const auto number = number_of(name);
    if ((!is_up && !is_down) || !number)
        return startup_failure{"sql/" + std::string(file.name) +
                               " is not named NNNN_name.up.sql or NNNN_name.down.sql"};

    auto& pair = pairs[*number];
    if (!pair.name.empty() && pair.name != name)
        return startup_failure{"migrations " + std::string(pair.name) + " and " + std::string(name) +
                               " have the same number"};
    pair.number = *number;
    pair.name = name;
    (is_up ? pair.up : pair.down) = file.text;
    return std::nullopt;
}

// Whether a server that knows so many migrations works with one that it does not know.
bool works_with(std::size_t known, const applied_migration& newer)
{
    return newer.compatible_from && std::cmp_less_equal(*newer.compatible_from, known);
}

// The applied migrations must be the first of those we know, unchanged; those that follow must be compatible.
std::optional<startup_failure> check_history(std::span<const migration> known,
                                             std::span<const applied_migration> applied)
{
    for (std::size_t i = 0; i < applied.size(); ++i) {
        const auto& row = applied[i];
        if (i >= known.size() && works_with(known.size(), row))
            continue;
        if (i >= known.size())
            return startup_failure{"the database is at migration " + std::to_string(row.number) +
                                   " and this program knows only " + std::to_string(known.size()) +
                                   ": it is older than the database"};
        if (row.number != known[i].number)
            return startup_failure{"schema_migrations has number " + std::to_string(row.number) +
                                   " but not " + std::to_string(known[i].number) +
                                   ": somebody changed that table by hand"};
        if (row.checksum != known[i].checksum)
            return startup_failure{described(known[i]) +
                                   " was changed after it had been applied to this database; "
                                   "put the change into a new migration"};
    }
    return std::nullopt;
}

}  // namespace

startup_result<std::vector<migration>> read_migrations(std::span<const embedded_file> files)
{
    std::map<int, migration> pairs;
    for (const auto& file : files)
        if (auto wrong = add_file(pairs, file))
            return *wrong;

    std::vector<migration> migrations;
    for (auto& [number, pair] : pairs) {
        if (number != static_cast<int>(migrations.size()) + 1)
            return startup_failure{"migration " + std::to_string(migrations.size() + 1) +
                                   " is missing before " + std::string(pair.name)};
        if (pair.up.empty())
            return startup_failure{described(pair) + " has no " + std::string(up_suffix)};
        if (pair.down.empty())
            return startup_failure{described(pair) + " has no " + std::string(down_suffix)};
        if (auto wrong = read_compatibility(pair))
            return *wrong;
        pair.checksum = to_hex(sha256_of(pair.up));
        migrations.push_back(std::move(pair));
    }
    return migrations;
}

startup_result<std::vector<migration_step>> plan_migration(std::span<const migration> known,
                                                           std::span<const applied_migration> applied,
                                                           std::optional<int> target)
{
    std::vector<applied_migration> history(applied.begin(), applied.end());
    std::ranges::sort(history, {}, &applied_migration::number);
    if (auto wrong = check_history(known, history))
        return *wrong;

    const int newest = static_cast<int>(known.size());
    const int wanted = target.value_or(newest);
    if (wanted < 0 || wanted > newest)
        return startup_failure{"there is no migration " + std::to_string(wanted) +
                               "; the target can be 0 (nothing) to " + std::to_string(newest)};

    if (history.size() > known.size()) {
        if (target)
            return startup_failure{
                "the database has migrations that this program does not know: migrate it "
                "with a newer one"};
        return std::vector<migration_step>();
    }
    const auto here = history.size();
    const auto there = static_cast<std::size_t>(wanted);
    std::vector<migration_step> steps;
    for (auto i = here; i < there; ++i)
        steps.push_back({direction::up, &known[i]});
    for (auto i = here; i > there; --i)
        steps.push_back({direction::down, &known[i - 1]});
    return steps;
}

}  // namespace restante
