#pragma once

#include <string>
#include <vector>

namespace restante {

// The names in a folder, in order; blocks. 0, or the errno. The descriptor is not moved.
int read_names(int folder, std::vector<std::string>& out);

}  // namespace restante
