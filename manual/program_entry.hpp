#pragma once

#include <string>
#include <vector>

namespace restante::manual {

// What the manual and the completions know of a program. Everything in it comes from the tables that the
// program itself reads.

struct option_entry {
    std::string flag;   // without dashes
    std::string value;  // its name; empty for a switch
    std::string help;
    std::vector<std::string> choices;  // of the value, if these are a closed set
    std::string variable;              // of the environment; empty if there is none
};

struct option_group {
    std::string title;
    std::vector<option_entry> options;
};

struct example_entry {
    std::string command;
    std::string meaning;
};

struct command_entry {
    std::string words;      // "workspace add"
    std::string arguments;  // "WORKSPACE [ID]"
    std::string summary;
    std::string details;
    std::vector<option_group> groups;
    std::vector<example_entry> examples;
    bool takes_files = false;  // as arguments

    std::string page() const;  // "workspace-add"
};

struct program_entry {
    std::string name;
    std::string summary;
    std::string details;
    std::vector<command_entry> commands;
};

program_entry server_program();  // restante, with the client's commands
program_entry client_program();  // restante-client

// The settings of `restante serve` and the other commands, as keys of the config file.
std::vector<option_group> setting_groups();

}  // namespace restante::manual
