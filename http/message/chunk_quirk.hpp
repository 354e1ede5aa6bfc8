#pragma once

#include <string_view>

namespace restante {

// Beast 1.81 believes that it will never see fewer than five bytes of a last chunk it has begun to read, and
// asserts it. A last chunk without a chunk before it can come as `0 CR LF` and then one byte more, so it
// waits here until five have come; the shortest has no fewer.
inline bool is_last_chunk_too_short_for_beast(std::string_view received)
{
    return received.size() < 5 && received.starts_with("0\r\n");
}

}  // namespace restante
