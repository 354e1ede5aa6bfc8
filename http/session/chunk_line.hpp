#pragma once

#include <string_view>

namespace restante {

// Whether the line that begins a chunk (`1a;name=value CR LF`) can still be a right one, going by as much of
// it as has arrived. After a chunk it begins with the CR LF that ends that chunk's data. Beast looks at the
// line only when all of it is there, and would let a client that sent nonsense run into its timeout.
bool can_become_chunk_line(std::string_view received, bool after_chunk) noexcept;

}  // namespace restante
