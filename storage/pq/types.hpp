#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace restante::pq {

using restante::timestamp;

using blob = std::span<const char>;

// JSON text for a jsonb parameter. Only text format can be sent without a copy, and it must be
// NUL-terminated.
struct jsonb {
    explicit jsonb(const std::string& text) : c_str(text.c_str()) {}
    const char* c_str;
};

// Object identifiers of the built-in types, fixed in PostgreSQL's catalog.
namespace oid {
inline constexpr unsigned boolean = 16, bytea = 17, name = 19, int8 = 20, int2 = 21, int4 = 23, text = 25,
                          json = 114, float8 = 701, int4_array = 1007, text_array = 1009, int8_array = 1016,
                          bytea_array = 1001, varchar = 1043, timestamptz = 1184, timestamptz_array = 1185,
                          unknown = 705, uuid = 2950, uuid_array = 2951, jsonb = 3802;
}  // namespace oid

// PostgreSQL counts microseconds from 2000-01-01.
inline constexpr timestamp epoch = std::chrono::sys_days(std::chrono::January / 1 / 2000);

}  // namespace restante::pq
