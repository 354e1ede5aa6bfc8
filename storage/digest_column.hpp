#pragma once

#include "core/error.hpp"
#include "core/sha256.hpp"
#include "storage/pq/types.hpp"

#include <algorithm>

namespace restante {

inline pq::blob as_blob(const digest32& digest)
{
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

inline result<digest32> as_digest(pq::blob bytes)
{
    digest32 out{};
    if (bytes.size() != out.size())
        return RESTANTE_ERROR(errc::wrong_column_type);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

}  // namespace restante
