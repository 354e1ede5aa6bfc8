#pragma once

#include "http/message/response.hpp"

namespace restante {

// For files that others have written, under the origin of our own page: a browser must neither run one, nor
// show it inside another page, nor keep it.
inline void add_safety_fields(response& answer)
{
    answer.head.set(http::field::cache_control, "private, no-store");
    answer.head.set("Content-Security-Policy", "sandbox; default-src 'none'");
    answer.head.set("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace restante
