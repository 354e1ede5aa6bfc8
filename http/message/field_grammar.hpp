#pragma once

#include "core/text.hpp"

#include <string_view>

namespace restante {

// Small rules of RFC 9110 and 9112 that field values are made of. All of them are total: no value makes them
// throw.

// Whether a comma-separated list contains `word`, in any letter case.
bool list_contains(std::string_view list, std::string_view word) noexcept;

// `host` or `host:port`, where host is a name, an IPv4 address or an IPv6 address in brackets. No user, not
// empty.
bool is_host_and_port(std::string_view text) noexcept;

}  // namespace restante
