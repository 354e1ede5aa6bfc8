#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

// Whether files and messages for this workspace are staged here; the answer when they are not.
answerable<void> check_delivery(const workspace_facts& workspace);

}  // namespace restante
