#pragma once

#include "cli/config.hpp"
#include "core/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restante {

// The whole text of a file of at most 1 MiB; else what the system said of it.
result<std::string> read_small_file(const std::string& path);

// The lines `key = value` of a config file, in order. Fails when the file cannot be read, when a line is
// neither that nor a comment, and when a key belongs to no setting.
using config_lines = std::vector<std::pair<std::string, std::string>>;
boost::system::result<config_lines, setting_error> read_config_file(const std::string& path);

}  // namespace restante
