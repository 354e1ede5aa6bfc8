#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

enum class delivery {
    stage,    // kept here until the workspace polls
    forward,  // passed on to its callback URL while it arrives
};

// How files and messages reach this workspace; the answer when they cannot.
answerable<delivery> decide_delivery(const workspace_facts& workspace);

// The answer to a message above the cap, whichever way it would have gone.
refusal refuse_message_size(std::uint64_t cap);

}  // namespace restante
