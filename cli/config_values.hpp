#pragma once

#include "cli/settings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// The syntax of values in flags, in the environment and in the config file. Each parser consumes the whole
// text or fails; ranges are checked by the caller.

// Digits with an optional minus sign, within 64 bits.
std::optional<std::int64_t> parse_whole_number(std::string_view text);

// A whole number and a unit: 500ms 90s 5m 1h 30d. Only 0 needs no unit.
std::optional<std::chrono::microseconds> parse_duration(std::string_view text);

// Bytes, plain or in powers of 1024: 26214400 64KiB 128MiB 1GiB 2TiB.
std::optional<std::int64_t> parse_size(std::string_view text);

// true/false, yes/no, on/off, 1/0.
std::optional<bool> parse_bool(std::string_view text);

// 127.0.0.1:8080, localhost:0, [::1]:8443. An IPv6 address needs brackets; host and port are both required.
std::optional<host_port> parse_host_port(std::string_view text);

// An Origin as a browser sends it: https://chat.example.com, http://localhost:3000; also * for any.
bool is_origin(std::string_view text);

// A Host without its port: chat.example.com, 10.0.0.7, [fd00::7]; also * for any.
std::optional<host_name> parse_host_name(std::string_view text);

// Slashes at its end are dropped.
std::optional<base_url> parse_base_url(std::string_view text);

// The shortest text that the parsers above parse to the same value.
std::string format_duration(std::chrono::microseconds value);
std::string format_size(std::uint64_t bytes);
std::string format_host_port(const host_port& value);

// External input for use in a message: in quotes, truncated after 80 bytes, control characters shown as ?.
std::string in_quotes(std::string_view text);

// 127.0.0.0/8, ::1, the same mapped into IPv6, or the name localhost.
bool is_loopback(const host_port& where);

}  // namespace restante
