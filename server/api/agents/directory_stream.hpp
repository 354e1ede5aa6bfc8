#pragma once

#include "http/session/request_context.hpp"
#include "storage/workspace_directory.hpp"

namespace restante {

// How one workspace of a list is written.
using append_entry = void (*)(std::string& out, const workspace_profile& of);

// A JSON array of workspaces, of any length, of which one page is in memory: the next is read when the client
// has taken the last one, and no connection to the database is held between them. What changes meanwhile may
// be in it or not.
awaitable<response> stream_directory(const request_context& req, workspace_directory& directory,
                                     directory_query which, append_entry append);

}  // namespace restante
