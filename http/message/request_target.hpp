#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boost::urls {
class url_view;
}

namespace restante {

// The decoded parameters of a query string, in a flat list: they are few and rarely looked up.
class query_params {
public:
    static constexpr std::size_t max_params = 32;

    // The value, or nothing when the parameter is absent. A known parameter that is ambiguous is bad_request:
    // given twice, with control characters or not in UTF-8. (Unknown ones are ignored, whatever they hold.)
    // The view lives as long as this object.
    result<std::optional<std::string_view>> get(std::string_view name) const;

    // `+` is a space, as in forms. More than 32 parameters: bad_request.
    static result<query_params> decode(const boost::urls::url_view& url);
    // The same for a query without anything to decode.
    static result<query_params> split(std::string_view plain);

private:
    struct param {
        std::string name;
        std::string value;
    };
    std::vector<param> params_;
};

struct request_target {
    std::string path;  // decoded; "*" for OPTIONS *
    query_params query;
};

// Parses a request target: `/path?query`, `http://host/path?query` or `*`. Strict, because a path that can be
// read in two ways can bypass checks: broken escapes, control characters, bytes outside ASCII, backslashes,
// dot segments (encoded or not), an encoded slash and fragments are bad_request.
result<request_target> parse_request_target(std::string_view target);

// `http://host:80/path?query` split in two: host:80 and /path?query, which may be empty. Nothing for targets
// of another form; neither part is checked.
struct absolute_target {
    std::string_view authority;
    std::string_view rest;
};
std::optional<absolute_target> split_absolute_target(std::string_view target) noexcept;

}  // namespace restante
