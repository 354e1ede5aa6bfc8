#pragma once

#include "postgres/account.hpp"
#include "postgres/binaries.hpp"
#include "postgres/layout.hpp"
#include "core/startup_failure.hpp"

namespace restante {

// Makes data/ with initdb on first use; later only sees that this PostgreSQL can run it. An interrupted first
// use leaves nothing that a later one could take for a cluster. Fails when initdb does, when the directory is
// of another major version, and when it is no PostgreSQL directory at all.
startup_result<void> prepare_cluster(const postgres_layout& layout, const postgres_binaries& binaries,
                                     const account& who);

// The directory belongs to a full disk, if that is what a message of PostgreSQL complains about.
std::string full_disk_hint(std::string_view message, const postgres_layout& layout);

}  // namespace restante
