#pragma once

#include "server/series/series_point.hpp"

#include <string>

namespace restante {

// Adds up the points of each slot from `first` on, `slots` of them; a slot without points has servers = 0.
// Points outside are left out.
std::vector<series_point> add_up(const std::vector<series_point>& points, timestamp first, std::size_t slots);

// One array for each figure, a value for each slot, null where nothing is known. `all_servers`: whether the
// other servers' points are in it.
std::string series_json(const std::vector<series_point>& slots, timestamp first, bool all_servers);

}  // namespace restante
