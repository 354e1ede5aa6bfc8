#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restante::s3 {

// Percent-encoding as signatures require it: everything but A–Z a–z 0–9 - . _ ~ is %XX with upper-case
// digits. In a path the slash stays.
std::string encode_path(std::string_view text);
std::string encode_value(std::string_view text);

using query_parameters = std::vector<std::pair<std::string, std::string>>;

// Encoded, sorted, with an = for every name: what is sent is what is signed.
std::string encode_query(const query_parameters& parameters);

}  // namespace restante::s3
