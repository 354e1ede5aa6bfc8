#pragma once

#include "core/error.hpp"

#include <string_view>

namespace restante::pq {

// Maps a SQLSTATE to our error code.
errc errc_from_sqlstate(std::string_view code);

}  // namespace restante::pq
