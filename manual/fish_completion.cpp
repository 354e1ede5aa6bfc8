#include "manual/completions.hpp"

#include <boost/algorithm/string/replace.hpp>

namespace restante::manual {

namespace {

// Whether the words before the cursor are exactly these, or begin with these.
constexpr std::string_view frame =
    R"(# Completion of PROGRAM for fish, made from its tables of commands and options.
function _FUNCTION_is
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
function _FUNCTION_in
    set -l words (commandline -opc)
    string match -q -- "$argv *" "$words[2..-1] "
end
complete -c PROGRAM -f
complete -c PROGRAM -n '_FUNCTION_is' -l version -d 'Prints the version'
complete -c PROGRAM -l help -d 'Shows commands or options'
)";

std::string line_for(const std::string& rest, const std::string& meaning)
{
    return "complete -c PROGRAM " + rest + " -d " + shell_quoted(first_sentence(meaning), "\\'") + '\n';
}

std::string option_line(const command_entry& command, const option_entry& o)
{
    std::string out = "-n '_FUNCTION_in " + command.words + "' -l " + o.flag;
    switch (kind_of(o)) {
        case value_kind::none: break;
        case value_kind::text: out += " -x"; break;
        case value_kind::file: out += " -r -F"; break;
        case value_kind::folder: out += " -x -a '(__fish_complete_directories)'"; break;
        case value_kind::choice: out += " -x -a '" + joined(o.choices, " ") + '\''; break;
    }
    return line_for(out, o.help);
}

std::string command_lines(const command_entry& command)
{
    const auto space = command.words.rfind(' ');
    const auto family = space == std::string::npos ? "" : ' ' + command.words.substr(0, space);
    const auto last = space == std::string::npos ? command.words : command.words.substr(space + 1);
    std::string out = line_for("-n '_FUNCTION_is" + family + "' -a " + last, command.summary);
    for (const auto& group : command.groups)
        for (const auto& o : group.options)
            out += option_line(command, o);
    if (command.takes_files)
        out += "complete -c PROGRAM -n '_FUNCTION_in " + command.words + "' -F\n";
    return out;
}

}  // namespace

std::string make_fish_completion(const program_entry& program)
{
    std::string out(frame);
    for (const auto& family : command_families(program))
        out += line_for("-n '_FUNCTION_is' -a " + family, "Commands about a " + family);
    for (const auto& command : program.commands)
        out += command_lines(command);
    boost::replace_all(out, "FUNCTION", function_name(program));
    boost::replace_all(out, "PROGRAM", program.name);
    return out;
}

}  // namespace restante::manual
