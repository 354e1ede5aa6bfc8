#pragma once

#include "cli/settings.hpp"
#include "http/client/address_policy.hpp"

namespace restante {

// Where callback URLs may point, as --push-allow and --dev say.
address_policy callback_policy_of(const settings& config);

}  // namespace restante
