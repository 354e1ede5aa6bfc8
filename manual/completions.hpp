#pragma once

#include "manual/man_pages.hpp"

namespace restante::manual {

// Completion of a program's commands, flags and values, for each shell. Each text stands alone: it needs
// nothing but the shell.
std::string make_bash_completion(const program_entry& program);
std::string make_zsh_completion(const program_entry& program);
std::string make_fish_completion(const program_entry& program);

// What follows a flag or is an argument, as far as a shell can help with it.
enum class value_kind { none, text, file, folder, choice };
value_kind kind_of(const option_entry& o);

// "workspace" and so on: the first words of commands that have two.
std::vector<std::string> command_families(const program_entry& program);
std::vector<std::string> first_words(const program_entry& program);
std::vector<std::string> second_words(const program_entry& program, const std::string& family);

// The first sentence, without its full stop.
std::string first_sentence(const std::string& text);

// In single quotes, for all three shells.
std::string shell_quoted(const std::string& text, const char* quote_inside);

// "_restante_client": a name for functions.
std::string function_name(const program_entry& program);

std::string joined(const std::vector<std::string>& words, const char* between);

}  // namespace restante::manual
