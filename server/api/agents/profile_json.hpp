#pragma once

#include "storage/workspace_directory.hpp"

#include <string>

namespace restante {

// A workspace with every key that existing clients look for; what does not exist here is null, 0 or false.
// What only the admin's list has besides: the current task and what a workspace costs.
void append_profile(std::string& out, const workspace_profile& of);
void append_listed(std::string& out, const workspace_profile& of);

// What a peer learns: {"id","name","role","tier","status","url","parent_id","active_tasks","agent_card"}.
void append_peer(std::string& out, const workspace_profile& of);

}  // namespace restante
