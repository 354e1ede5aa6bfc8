#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace restante {

struct grant_amounts {
    std::int64_t requests = 0;
    std::int64_t files = 0;
    std::int64_t bytes = 0;

    friend grant_amounts operator-(const grant_amounts& a, const grant_amounts& b)
    {
        return {a.requests - b.requests, a.files - b.files, a.bytes - b.bytes};
    }
    friend bool operator==(const grant_amounts&, const grant_amounts&) = default;
};

// What an upload grant allows, over all of its requests.
struct grant_terms {
    grant_amounts limit;
    grant_amounts used;              // when it was read; it only ever grows
    std::vector<std::string> types;  // "image/png", "image/*"; empty for all

    grant_amounts left() const { return limit - used; }
};

}  // namespace restante
