#include "postgres/cluster_files.hpp"

#include "core/log.hpp"
#include "postgres/process.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace restante {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes initdb_limit{2};

startup_result<void> check_version(const fs::path& data, const postgres_binaries& binaries)
{
    int version = 0;
    if (!(std::ifstream(data / "PG_VERSION") >> version))
        return startup_failure{data.string() +
                               " exists and is no PostgreSQL directory: move it away, or choose "
                               "another --data-dir"};
    if (version != binaries.major)
        return startup_failure{data.string() + " was made by PostgreSQL " + std::to_string(version) +
                               ", and " + binaries.directory.string() + " is version " +
                               std::to_string(binaries.major) +
                               ": name the old one's programs in RESTANTE_PG_BIN (package postgresql-" +
                               std::to_string(version) + "), or move the data with pg_upgrade"};
    return {};
}

// initdb accepts an empty directory, and may be unable to create one inside ours.
startup_result<void> make_empty(const fs::path& directory, const account& who)
{
    std::error_code ec;
    fs::remove_all(directory, ec);
    if (ec || ::mkdir(directory.c_str(), 0700) != 0 ||
        (!who.is_us() && ::chown(directory.c_str(), who.uid, who.gid) != 0))
        return startup_failure{"cannot make " + directory.string() + ": " +
                               (ec ? ec.message() : std::string(std::strerror(errno)))};
    return {};
}

startup_result<void> make_cluster(const postgres_layout& layout, const postgres_binaries& binaries,
                                  const account& who, const interruption& interrupted)
{
    log_line(log_level::info, "private_postgres_init").field("directory", layout.data.string());
    const fs::path unfinished = layout.root / "data.new";
    if (const auto made = make_empty(unfinished, who); made.has_error())
        return made;

    // The socket's directory is closed to all but the owner, so connections through it are trusted.
    const auto initdb = run_program({binaries.program("initdb"), "--pgdata=" + unfinished.string(),
                                     "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8",
                                     "--auth-local=trust", "--auth-host=reject", "--no-instructions"},
                                    who, initdb_limit, interrupted);
    if (initdb.has_error())
        return initdb.error();
    if (!initdb->succeeded)
        return startup_failure{"initdb could not make " + layout.data.string() +
                               full_disk_hint(initdb->text, layout) + ":\n" + initdb->text};

    std::error_code ec;
    fs::rename(unfinished, layout.data, ec);
    if (ec)
        return startup_failure{"cannot make " + layout.data.string() + ": " + ec.message()};
    return {};
}

}  // namespace

startup_result<void> prepare_cluster(const postgres_layout& layout, const postgres_binaries& binaries,
                                     const account& who, const interruption& interrupted)
{
    std::error_code ec;
    if (fs::exists(layout.data, ec))
        return check_version(layout.data, binaries);
    return make_cluster(layout, binaries, who, interrupted);
}

std::string full_disk_hint(std::string_view message, const postgres_layout& layout)
{
    if (message.find("No space left on device") == std::string_view::npos)
        return "";
    return ", because the disk that holds " + layout.root.string() + " is full";
}

}  // namespace restante
