#pragma once

#include "core/startup_failure.hpp"
#include "postgres/account.hpp"
#include "postgres/binaries.hpp"
#include "postgres/layout.hpp"
#include "postgres/process.hpp"

namespace restante {

// Creates data/ with initdb on first use; later only checks that this PostgreSQL can run it. An interrupted
// first use leaves nothing that could be mistaken for a cluster. Fails if initdb does, if the directory is of
// another major version, if it is not a PostgreSQL directory at all, and if it is interrupted.
startup_result<void> prepare_cluster(const postgres_layout& layout, const postgres_binaries& binaries,
                                     const account& who, const interruption& interrupted);

// If the message reports a full disk, names the directory on that disk; else empty.
std::string full_disk_hint(std::string_view message, const postgres_layout& layout);

}  // namespace restante
