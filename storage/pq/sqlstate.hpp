#pragma once

#include "core/error.hpp"

#include <string_view>

namespace restante::pq {

// What one of PostgreSQL's five-character codes means to us.
errc errc_from_sqlstate(std::string_view code);

}  // namespace restante::pq
