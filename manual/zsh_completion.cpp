#include "manual/completions.hpp"

#include <boost/algorithm/string/replace.hpp>

namespace restante::manual {

namespace {

constexpr std::string_view frame = R"(#compdef PROGRAM
# Completion of PROGRAM for zsh, made from its tables of commands and options.

FUNCTION() {
    local command=${words[2]}
    local -a choices
    if ((CURRENT == 2)); then
        choices=(
FIRSTS        )
        _describe command choices
        return
    fi
FAMILIES    # What follows the command is completed as if it stood alone.
    words=("$command" "${(@)words[3,-1]}")
    ((CURRENT -= 1))
    case $command in
COMMANDS    esac
}

if [[ $funcstack[1] == FUNCTION ]]; then
    FUNCTION "$@"
else
    compdef FUNCTION PROGRAM
fi
)";

constexpr std::string_view family_frame = R"(    if [[ $command == (FAMILIES) ]]; then
        if ((CURRENT == 3)); then
            case $command in
SECONDS            esac
            _describe command choices
            return
        fi
        command+=" ${words[3]}"
        words=("${words[1]}" "${(@)words[3,-1]}")
        ((CURRENT -= 1))
    fi
)";

// For _describe: the colon separates a word from what it means.
std::string described(const std::string& word, const std::string& summary)
{
    const auto text = boost::replace_all_copy(first_sentence(summary), ":", "\\:");
    return shell_quoted(word + ':' + text, "'\\''");
}

std::string summary_of(const program_entry& program, const std::string& word)
{
    for (const auto& command : program.commands)
        if (command.words == word)
            return command.summary;
    return "Commands about a " + word + ".";
}

std::string families_of(const program_entry& program)
{
    const auto families = command_families(program);
    if (families.empty())
        return "";
    std::string seconds;
    for (const auto& family : families) {
        std::vector<std::string> words;
        for (const auto& second : second_words(program, family))
            words.push_back(described(second, summary_of(program, family + ' ' + second)));
        seconds += "                " + family + ") choices=(" + joined(words, " ") + ") ;;\n";
    }
    auto out = boost::replace_all_copy(std::string(family_frame), "FAMILIES", joined(families, "|"));
    boost::replace_all(out, "SECONDS", seconds);
    return out;
}

// For _arguments: '*--flag[what it does]:VALUE:action'.
std::string argument_of(const option_entry& o)
{
    auto help = first_sentence(o.help);
    for (const char* special : {"[", "]", ":"})
        boost::replace_all(help, special, std::string("\\") + special);
    std::string out = "*--" + o.flag + (o.value.empty() ? "" : "=") + '[' + help + ']';
    const auto name = boost::replace_all_copy(o.value, ":", "\\:");
    switch (kind_of(o)) {
        case value_kind::none: break;
        case value_kind::text: out += ':' + name + ": "; break;
        case value_kind::file: out += ':' + name + ":_files"; break;
        case value_kind::folder: out += ':' + name + ":_files -/"; break;
        case value_kind::choice: out += ':' + name + ":(" + joined(o.choices, " ") + ')'; break;
    }
    return shell_quoted(out, "'\\''");
}

std::string command_case(const command_entry& command)
{
    std::string out = "        '" + command.words + "')\n            _arguments '--help[Shows the options]'";
    for (const auto& group : command.groups)
        for (const auto& o : group.options)
            out += " \\\n                " + argument_of(o);
    if (command.takes_files)
        out += " \\\n                '*:FILE:_files'";
    return out + "\n            ;;\n";
}

}  // namespace

std::string make_zsh_completion(const program_entry& program)
{
    std::string firsts, commands;
    for (const auto& word : first_words(program))
        firsts += "            " + described(word, summary_of(program, word)) + '\n';
    for (const auto& command : program.commands)
        commands += command_case(command);
    auto out = boost::replace_all_copy(std::string(frame), "FAMILIES", families_of(program));
    boost::replace_all(out, "FIRSTS", firsts);
    boost::replace_all(out, "COMMANDS", commands);
    boost::replace_all(out, "FUNCTION", '_' + program.name);  // zsh finds it by the name of its file
    boost::replace_all(out, "PROGRAM", program.name);
    return out;
}

}  // namespace restante::manual
