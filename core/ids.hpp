#pragma once

#include <boost/uuid/uuid.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

using uuid = boost::uuids::uuid;

struct uuid_hash {
    std::size_t operator()(const uuid& id) const noexcept { return boost::uuids::hash_value(id); }
};

// Accepts the canonical 8-4-4-4-12 form in upper or lower case, and nothing else: no braces, no missing
// hyphens.
std::optional<uuid> parse_uuid(std::string_view text) noexcept;

// The canonical form in lower case.
std::string to_string(const uuid& id);
void append_to(std::string& out, const uuid& id);

// 122 random bits from OpenSSL.
uuid make_uuid_v4();

// Time-ordered (RFC 9562 version 7), so that ids created together are adjacent in an index.
uuid make_uuid_v7();

}  // namespace restante
