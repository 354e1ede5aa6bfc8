#pragma once

#include "http/routing/handler.hpp"

#include <cstdint>

namespace restante {

// What a form may need besides the bytes of its files.
inline constexpr std::uint64_t framing_allowance = 256 * 1024;

// POST /workspaces/{id}/chat/uploads: stages every file of the form, or none of them.
handler_function handle_upload;

}  // namespace restante
