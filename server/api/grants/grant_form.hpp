#pragma once

#include "http/message/public_errors.hpp"
#include "storage/grant_terms.hpp"

#include <boost/json/value.hpp>

#include <chrono>
#include <optional>

namespace restante {

// What an upload grant is asked to allow.
struct grant_request {
    std::chrono::seconds lifetime = std::chrono::minutes(15);
    grant_terms terms{.limit = {.requests = 1, .files = 5, .bytes = 52'428'800}, .used = {}, .types = {}};
    std::optional<std::string> note = {};
};

inline constexpr std::chrono::seconds longest_grant_life = std::chrono::days(30);
inline constexpr std::int64_t most_grant_requests = 1'000'000;
inline constexpr std::int64_t most_grant_files = 1'000'000;
inline constexpr std::int64_t most_grant_bytes = std::int64_t{1} << 40;
inline constexpr std::size_t most_grant_types = 32;

// {"expires_in","max_requests","max_files","max_bytes","types","note"}, all optional. Refusal: bad_request
// with a sentence that names the field.
answerable<grant_request> read_grant_request(const boost::json::value& body);

}  // namespace restante
