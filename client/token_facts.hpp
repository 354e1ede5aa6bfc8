#pragma once

#include "client/failure.hpp"

#include <string>
#include <string_view>

namespace restante::client {

// What a server says of the token that it is asked with.
struct token_facts {
    std::string scope;           // full, upload, read, grant, admin; a later server may know more
    std::string workspace;       // empty: unknown, or the administrator's, which is for all of them
    std::string workspace_name;  // may be empty
    std::string expires_at;      // empty: never
    std::string left;            // of a grant: "1 request, 5 files, 50.0 MiB"
};

// The answer to GET /token.
outcome<token_facts> parse_token_facts(std::string_view body);

// Whether it is any good for this workspace, or, where that is empty, for the one it belongs to. Fails with
// wrong_workspace, insufficient_scope, and usage where nothing says which workspace is meant.
outcome<void> check_token(const token_facts& facts, const std::string& workspace);

// Whether it is for somebody who sends, and pull would be refused.
bool only_sends(const token_facts& facts);

// What whoever logs in with it should know; empty when there is nothing.
std::string in_words(const token_facts& facts);

}  // namespace restante::client
