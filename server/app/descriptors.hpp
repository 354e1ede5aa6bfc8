#pragma once

#include "cli/settings.hpp"

#include <cstddef>

namespace restante {

// Raises the process's limit of open descriptors as far as it may go and returns it.
std::size_t raise_descriptor_limit();

// How many client connections the process may hold: the setting, or less where descriptors are short. The
// database, the log and the spool files of running uploads must still get theirs when every connection is
// taken.
std::size_t connection_limit(const settings& config, std::size_t descriptors);

}  // namespace restante
