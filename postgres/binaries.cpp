#include "postgres/binaries.hpp"

#include "postgres/process.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace restante {

namespace {

namespace fs = std::filesystem;

constexpr int least_major = 15;
constexpr std::string_view needed[] = {"postgres", "initdb", "pg_isready"};

bool is_complete(const fs::path& directory)
{
    for (const auto name : needed)
        if (::access((directory / name).c_str(), X_OK) != 0)
            return false;
    return true;
}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::optional<fs::path> search(std::string_view path)
{
    while (!path.empty()) {
        const auto entry = path.substr(0, path.find(':'));
        path.remove_prefix(std::min(path.size(), entry.size() + 1));
        if (entry.starts_with('/') && is_complete(entry))
            return fs::path(entry);
    }
    return std::nullopt;
}

std::optional<fs::path> find_directory(const binary_places& places)
{
    if (!places.chosen.empty())
        return is_complete(places.chosen) ? std::optional<fs::path>(places.chosen) : std::nullopt;
    if (!places.packaged.empty() && is_complete(places.packaged))
        return fs::path(places.packaged);
    return search(places.path);
}

}  // namespace

binary_places binary_places::from_environment()
{
    return {variable("RESTANTE_PG_BIN"), "/usr/lib/postgresql/15/bin", variable("PATH")};
}

int parse_postgres_major(std::string_view version_line)
{
    constexpr std::string_view start = "postgres (PostgreSQL) ";
    if (!version_line.starts_with(start))
        return 0;
    version_line.remove_prefix(start.size());
    int major = 0;
    std::from_chars(version_line.data(), version_line.data() + version_line.size(), major);
    return major;
}

startup_result<postgres_binaries> find_postgres_binaries(const binary_places& places)
{
    const auto directory = find_directory(places);
    if (!directory && !places.chosen.empty())
        return startup_failure{"RESTANTE_PG_BIN names " + places.chosen +
                               ", which does not hold postgres, initdb and pg_isready"};
    if (!directory)
        return startup_failure{
            "PostgreSQL is not installed: neither " + places.packaged +
            " nor PATH has postgres, initdb and pg_isready. Install it with: apt-get install postgresql-15; "
            "or name its directory in RESTANTE_PG_BIN; or give a running one with --database-url"};

    postgres_binaries found{fs::absolute(*directory), 0};
    // Querying the version needs no particular account, so this runs as ourselves.
    const account self{::geteuid(), ::getegid(), "", {}};
    const auto version =
        run_program({found.program("postgres"), "--version"}, self, std::chrono::seconds(10));
    if (version.has_error())
        return version.error();
    found.major = parse_postgres_major(version->text);
    if (found.major < least_major)
        return startup_failure{
            "the PostgreSQL in " + found.directory.string() + " is too old (" + version->text +
            "): version 15 or later is needed. Install it with: apt-get install postgresql-15"};
    return found;
}

}  // namespace restante
