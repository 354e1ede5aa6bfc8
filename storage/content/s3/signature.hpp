#pragma once

#include "core/sha256.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restante::s3 {

struct key_pair {
    std::string access_key;
    std::string secret_key;

    bool operator==(const key_pair&) const = default;
};

// HMAC-SHA-256. It fails only if OpenSSL runs out of memory, and then throws.
digest32 hmac_sha256(std::string_view key, std::string_view message);

// "20261118T073000Z"
std::string amz_date(std::chrono::sys_seconds when);

// The SHA-256 of no bytes, in hexadecimal: the payload of a request without a body.
inline constexpr std::string_view empty_payload =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// What a signature covers. Path and query are encoded already, names of fields are in lower case and sorted,
// values have no blanks around them. `fields` includes host, x-amz-content-sha256 and x-amz-date.
struct signed_parts {
    std::string_view method;
    std::string_view path;
    std::string_view query;
    std::vector<std::pair<std::string_view, std::string_view>> fields;
    std::string_view payload;  // SHA-256 in hexadecimal
};

std::string canonical_request(const signed_parts& what);

// The value of Authorization, by AWS Signature Version 4 for the service s3.
std::string authorization(const key_pair& keys, std::string_view region, std::string_view date,
                          const signed_parts& what);

}  // namespace restante::s3
