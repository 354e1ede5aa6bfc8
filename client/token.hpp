#pragma once

#include "client/settings.hpp"

#include <string>
#include <string_view>

namespace restante::client {

// Where the token comes from: RESTANTE_TOKEN, a file that only its owner can read, or a command.
class token_source {
public:
    // Blocking. Without any source the token is empty: a server on this machine may run with --dev.
    static outcome<token_source> open(const settings& config);

    const std::string& token() const { return token_; }
    // What the file or the command says now; the same where there is neither. Blocking, on any thread.
    outcome<std::string> read_again() const;
    // Which token it is: another number after each change.
    unsigned generation() const { return generation_; }
    // False if it is the same.
    bool replace(std::string with);

private:
    std::string file_;
    std::string command_;
    std::string token_;
    unsigned generation_ = 0;
};

constexpr std::size_t longest_token = 4096;

// What a token may consist of.
bool is_visible_ascii(std::string_view text);

// The text without white space around it, if that can be a token.
outcome<std::string> parse_token(std::string_view text, const std::string& source);

// Fails when others can read or have made the file.
outcome<std::string> read_token_file(const std::string& path);

}  // namespace restante::client
