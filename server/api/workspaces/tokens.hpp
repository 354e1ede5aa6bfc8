#pragma once

#include "http/routing/handler.hpp"

namespace restante {

// The tokens of a workspace. Several may live at once, so that one can be replaced without a gap.
handler_function handle_token_mint;
handler_function handle_token_list;
handler_function handle_token_revoke;

}  // namespace restante
