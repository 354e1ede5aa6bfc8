#include "manual/completions.hpp"

#include <boost/algorithm/string/replace.hpp>

namespace restante::manual {

namespace {

// Finds the command among the words, then looks at the word before the cursor.
constexpr std::string_view frame =
    R"(# Completion of PROGRAM for bash, made from its tables of commands and options.
FUNCTION()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    local flags= values= kind=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'WORDS help --help --version' -- "$cur")
        return
    fi
FAMILIES    case $command in
COMMANDS    esac
    case $kind in
        file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        choice) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
        text) ;;
        *)
            [[ $cur != -* ]] || mapfile -t COMPREPLY < <(compgen -W "$flags --help" -- "$cur")
            ;;
    esac
}
complete -F FUNCTION PROGRAM
)";

constexpr std::string_view family_frame = R"(    if [[ $command == @(FAMILIES) ]]; then
        if ((COMP_CWORD == 2)); then
            case $command in
SECONDS            esac
            mapfile -t COMPREPLY < <(compgen -W "$values --help" -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
)";

std::string families_of(const program_entry& program)
{
    const auto families = command_families(program);
    if (families.empty())
        return "";
    std::string seconds;
    for (const auto& family : families)
        seconds += "                " + family + ") values='" + joined(second_words(program, family), " ") +
                   "' ;;\n";
    auto out = boost::replace_all_copy(std::string(family_frame), "FAMILIES", joined(families, "|"));
    boost::replace_all(out, "SECONDS", seconds);
    return out;
}

std::string_view word_of(value_kind kind)
{
    switch (kind) {
        case value_kind::file: return "file";
        case value_kind::folder: return "folder";
        case value_kind::choice: return "choice";
        default: return "text";
    }
}

std::string command_case(const command_entry& command)
{
    std::vector<std::string> flags;
    std::string values;
    for (const auto& group : command.groups) {
        for (const auto& o : group.options) {
            flags.push_back("--" + o.flag);
            const auto kind = kind_of(o);
            if (kind == value_kind::none)
                continue;
            values.append("                --").append(o.flag).append(") kind=").append(word_of(kind));
            if (kind == value_kind::choice)
                values.append(" values='").append(joined(o.choices, " ")).append("'");
            values += " ;;\n";
        }
    }
    std::string out = "        '" + command.words + "')\n            flags='" + joined(flags, " ") + "'\n";
    if (command.takes_files)
        out += "            [[ $cur == -* ]] || kind=file\n";
    if (!values.empty())
        out += "            case $prev in\n" + values + "            esac\n";
    return out + "            ;;\n";
}

}  // namespace

std::string make_bash_completion(const program_entry& program)
{
    std::string commands;
    for (const auto& command : program.commands)
        commands += command_case(command);
    auto out = boost::replace_all_copy(std::string(frame), "FAMILIES", families_of(program));
    boost::replace_all(out, "WORDS help", joined(first_words(program), " ") + " help");
    boost::replace_all(out, "COMMANDS", commands);
    boost::replace_all(out, "FUNCTION", function_name(program));
    boost::replace_all(out, "PROGRAM", program.name);
    return out;
}

}  // namespace restante::manual
