#include "client/command_line.hpp"

#include "cli/config_values.hpp"
#include "cli/help_text.hpp"
#include "cli/suggest.hpp"
#include "client/options.hpp"
#include "client/verbs.hpp"

#include <boost/algorithm/string/replace.hpp>

#include <algorithm>

namespace restante::client {

namespace {

const verb_entry* find_verb(std::string_view word)
{
    const auto table = verb_table();
    const auto at = std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.word == word; });
    return at == table.end() ? nullptr : &*at;
}

bool asks_for_help(std::span<const std::string> args)
{
    return std::any_of(args.begin(), args.end(), [](const auto& a) { return a == "--help" || a == "-h"; });
}

failure wrong_usage(std::string text)
{
    return {exit_code::usage, "usage", std::move(text)};
}

// Splits the words after the verb into flags and files. A value follows its flag or an equals sign;
// everything after a bare -- is a file, and so is a bare dash.
class word_sorter {
public:
    word_sorter(std::string_view program, const verb_entry& entry) : program_(program), entry_(entry) {}

    std::optional<failure> sort(std::span<const std::string> words)
    {
        bool only_files = false;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& word = words[i];
            if (only_files || word == "-" || !word.starts_with('-')) {
                files.push_back(word);
            } else if (word == "--") {
                only_files = true;
            } else if (auto wrong = take_flag(word, words, i)) {
                return wrong;
            }
        }
        return check_files();
    }

    std::vector<given_flag> flags;
    std::vector<std::string> files;

private:
    std::string see_help() const
    {
        return " See `" + std::string(program_) + ' ' + std::string(entry_.word) + " --help`.";
    }

    std::optional<failure> take_flag(const std::string& word, std::span<const std::string> words,
                                     std::size_t& at)
    {
        const auto equals = word.find('=');
        const std::string name = word.starts_with("--") ? word.substr(2, equals - 2) : "";
        const option* known = find_option(entry_.what, name);
        if (!known)
            return unknown_flag(word.substr(0, equals));
        std::string value = "true";
        if (equals != std::string::npos)
            value = word.substr(equals + 1);
        else if (!known->value_name.empty())
            value = at + 1 < words.size() ? words[++at] : "";
        if (value.empty())
            return wrong_usage("--" + name + " needs a value: " + flag_text(name, known->value_name) + '.' +
                               see_help());
        flags.push_back({name, std::move(value)});
        return std::nullopt;
    }

    failure unknown_flag(const std::string& word) const
    {
        // A token on the command line can be seen by every user of the machine.
        if (word == "--token")
            return wrong_usage(
                "A token is never given on the command line, where others can see it: use "
                "--token-file, --token-command or RESTANTE_TOKEN.");
        std::vector<std::string_view> known;
        for (const auto& o : option_table())
            if ((o.verbs & bit(entry_.what)) != 0)
                known.push_back(o.flag);
        const auto bare = word.substr(std::min(word.size(), word.find_first_not_of('-')));
        const auto meant = nearest(bare, known);
        return wrong_usage("There is no flag " + in_quotes(word) +
                           (meant.empty() ? "." : "; did you mean --" + std::string(meant) + "?") +
                           see_help());
    }

    std::optional<failure> check_files() const
    {
        if (entry_.what != verb::send && !files.empty())
            return wrong_usage(in_quotes(files.front()) + " is one argument too many." + see_help());
        if (entry_.what == verb::send && files.empty())
            return wrong_usage("FILE is missing. Usage: " + usage_line(program_, entry_));
        const auto inputs = std::count(files.begin(), files.end(), "-");
        if (inputs > 1)
            return wrong_usage("- is standard input, and can be sent only once.");
        const auto names = [](const given_flag& each) { return each.flag == "name"; };
        if (files.size() > 1 && inputs == 0 && std::any_of(flags.begin(), flags.end(), names))
            return wrong_usage("--name is the name of one file, and " + std::to_string(files.size()) +
                               " are given." + see_help());
        return std::nullopt;
    }

    std::string_view program_;
    const verb_entry& entry_;
};

}  // namespace

bool is_client_command(std::span<const std::string> args)
{
    if (args.empty())
        return false;
    return find_verb(args[0]) || (args[0] == "help" && args.size() > 1 && find_verb(args[1]));
}

std::string general_help(std::string_view program)
{
    std::string out = "Usage: " + std::string(program) + " COMMAND [OPTION]...\n\n";
    append_wrapped(
        out, "The other side of a Restante server: fetches the files of a workspace, and sends some.", 0);
    out += "\nCommands\n";
    two_columns rows;
    for (const auto& entry : verb_table())
        rows.add(
            std::string(entry.word) + (entry.arguments.empty() ? "" : " ") + std::string(entry.arguments),
            std::string(entry.summary));
    rows.add("version", "Prints the version.");
    rows.print(out, rows.widest());
    return out + "\n`" + std::string(program) + " COMMAND --help` explains a command, with examples.\n";
}

parsed_command_line parse_command_line(std::string_view program, std::span<const std::string> args,
                                       const environment& env)
{
    if (args.empty())
        return wrong_usage(general_help(program));
    const bool help_first = args[0] == "help" && args.size() > 1;
    const auto rest = help_first ? args.subspan(1) : args;
    const auto* entry = find_verb(rest[0]);
    if (!entry && (asks_for_help(rest.first(1)) || rest[0] == "help"))
        return help_request{general_help(program)};
    if (!entry) {
        std::vector<std::string_view> known;
        for (const auto& each : verb_table())
            known.push_back(each.word);
        const auto meant = nearest(rest[0], known);
        return wrong_usage("There is no command " + in_quotes(rest[0]) +
                           (meant.empty() ? "." : "; did you mean " + std::string(meant) + "?") + " See `" +
                           std::string(program) + " --help`.");
    }
    if (help_first || asks_for_help(rest))
        return help_request{verb_help(program, *entry)};

    word_sorter sorted(program, *entry);
    if (auto wrong = sorted.sort(rest.subspan(1)))
        return *std::move(wrong);
    auto config = load_settings(entry->what, sorted.flags, env);
    if (!config) {
        auto wrong = std::move(config).error();
        boost::replace_first(wrong.text, "`PROGRAM ", "`" + std::string(program) + ' ');
        return wrong;
    }
    return command{entry->what, std::move(sorted.files), *std::move(config)};
}

}  // namespace restante::client
