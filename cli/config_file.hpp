#pragma once

#include "cli/config.hpp"
#include "core/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restante {

// The whole text of a file of at most 1 MiB, or the system's error.
result<std::string> read_small_file(const std::string& path);

// The `key = value` lines of a config file, in order. Fails if the file cannot be read, if a line is neither
// that nor a comment, and if a key is not a setting.
using config_lines = std::vector<std::pair<std::string, std::string>>;
boost::system::result<config_lines, setting_error> read_config_file(const std::string& path);

// The same with any keys.
boost::system::result<config_lines, setting_error> read_config_lines(const std::string& path);

// Whether a value that is written into such a line is read as it was: there is no quoting.
bool fits_config_line(std::string_view value);

}  // namespace restante
