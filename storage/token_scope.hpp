#pragma once

#include <optional>
#include <string_view>

namespace restante {

// What a token of a workspace is good for. Which routes that are is decided in
// server/api/common/access_rules.
enum class token_scope {
    full,    // everything that the workspace itself may do
    upload,  // sending: files and messages, and what became of its own files
    read,    // looking: the feed, files, events; changes nothing
    grant,   // an upload grant: so many files, and what became of them
};

std::string_view to_string(token_scope scope) noexcept;
std::optional<token_scope> parse_token_scope(std::string_view text) noexcept;

}  // namespace restante
