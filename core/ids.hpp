#pragma once

#include <boost/uuid/uuid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

using uuid = boost::uuids::uuid;

// Accepts the canonical 8-4-4-4-12 form in upper or lower case, and nothing else: no braces, no missing
// hyphens.
std::optional<uuid> parse_uuid(std::string_view text) noexcept;

// The canonical form in lower case.
std::string to_string(const uuid& id);
void append_to(std::string& out, const uuid& id);

// 122 random bits from OpenSSL.
uuid make_uuid_v4();

// 64 random bits, likewise.
std::uint64_t make_random_bits();

// Time-ordered (RFC 9562 version 7), so that ids created together are adjacent in an index.
uuid make_uuid_v7();

}  // namespace restante
