#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// The name of a file's bytes outside of the database: the hour in which it was made and the file's id, or another
// one when they were moved, "2026-11-16T18/0193…". The hour keeps directories small, and lets whoever looks for leftovers begin with
// the oldest: keys sort by time.
std::string make_content_key(const uuid& file, timestamp now);

// "2026-11-16T18", in UTC.
std::string hour_of(timestamp moment);

struct content_key {
    std::string_view hour;
    uuid file;
};

// Nothing for a text that make_content_key() would not have made: it must never become a path.
std::optional<content_key> parse_content_key(std::string_view text);
bool is_hour(std::string_view text);

}  // namespace restante
