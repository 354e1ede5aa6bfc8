#include "manual/program_entry.hpp"

#include "cli/verbs.hpp"
#include "client/options.hpp"
#include "client/verbs.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include <algorithm>

namespace restante::manual {

namespace {

std::vector<std::string> split(std::string_view text, const char* at)
{
    std::vector<std::string> parts;
    if (!text.empty())
        boost::split(parts, text, boost::is_any_of(at));
    return parts;
}

option_entry entry_of(const option& o, bool running)
{
    std::string help(o.help);
    if (o.reloads && running)
        help += " SIGHUP reloads it.";
    if (const auto text = default_text(o); !text.empty())
        help += " [default " + text + "]";
    const auto values = choices(o);
    return {std::string(o.flag),
            std::string(o.value_name),
            std::move(help),
            {values.begin(), values.end()},
            environment_name(o)};
}

option_entry entry_of(const own_option& o)
{
    return {std::string(o.flag), std::string(o.value_name), std::string(o.help), split(o.choices, " "), ""};
}

option_entry entry_of(const client::option& o)
{
    const bool has_variable = o.in_file || o.flag == "config";
    return {std::string(o.flag), std::string(o.value_name), std::string(o.help), split(o.choices, " "),
            has_variable ? environment_name(o) : ""};
}

void append_settings(std::vector<option_group>& to, audience who)
{
    for (const auto& o : option_table()) {
        if (!is_read_by(o, who))
            continue;
        if (to.empty() || to.back().title != o.group)
            to.push_back({std::string(o.group), {}});
        to.back().options.push_back(entry_of(o, who == audience::serve));
    }
}

command_entry command_of(const verb_entry& verb)
{
    command_entry out{.words = std::string(verb.words),
                      .arguments = {},
                      .summary = std::string(verb.summary),
                      .details = std::string(verb.details),
                      .groups = {},
                      .examples = {}};
    for (const auto& argument : verb.arguments) {
        const std::string name(argument.name);
        out.arguments += (out.arguments.empty() ? "" : " ") + (argument.required ? name : '[' + name + ']');
    }
    if (!verb.own.empty())
        out.groups.push_back({"Options", {}});
    for (const auto& o : verb.own)
        out.groups.back().options.push_back(entry_of(o));
    if (verb.reads)
        append_settings(out.groups, *verb.reads);
    return out;
}

// "  PROGRAM pull\n      what it does\n", and so on.
std::vector<example_entry> examples_of(std::string_view text, const std::string& program)
{
    std::vector<example_entry> out;
    for (const auto& line : split(text, "\n")) {
        const auto trimmed = boost::replace_all_copy(boost::trim_copy(line), "PROGRAM", program);
        if (line.starts_with("      ") && !out.empty())
            out.back().meaning += (out.back().meaning.empty() ? "" : " ") + trimmed;
        else if (!trimmed.empty())
            out.push_back({trimmed, ""});
    }
    return out;
}

command_entry command_of(const client::verb_entry& verb, const std::string& program)
{
    option_group options{"Options", {}};
    for (const auto& o : client::option_table())
        if ((o.verbs & client::bit(verb.what)) != 0)
            options.options.push_back(entry_of(o));
    return {.words = std::string(verb.word),
            .arguments = std::string(verb.arguments),
            .summary = std::string(verb.summary),
            .details = std::string(verb.details),
            .groups = {std::move(options)},
            .examples = examples_of(verb.examples, program),
            .takes_files = !verb.arguments.empty()};
}

void append_client_commands(program_entry& to)
{
    for (const auto& verb : client::verb_table())
        to.commands.push_back(command_of(verb, to.name));
}

bool is_client_verb(std::string_view words)
{
    const auto table = client::verb_table();
    return std::any_of(table.begin(), table.end(), [&](const auto& entry) { return entry.word == words; });
}

}  // namespace

std::string command_entry::page() const
{
    return boost::replace_all_copy(words, " ", "-");
}

program_entry server_program()
{
    program_entry out{
        "restante",
        "Holds chat uploads until their workspace calls for them.",
        "A web chat uploads files for an agent that runs where the server cannot call it. The server "
        "keeps the files in PostgreSQL; the agent's workspace polls for them, fetches and "
        "acknowledges them.",
        {}};
    for (const auto& verb : verb_table())
        if (!is_client_verb(verb.words))
            out.commands.push_back(command_of(verb));
    append_client_commands(out);
    return out;
}

program_entry client_program()
{
    program_entry out{"restante-client",
                      "Fetches the files of a workspace, and sends some.",
                      "The other side of a Restante server, for machines that have neither the server nor "
                      "PostgreSQL.",
                      {}};
    append_client_commands(out);
    out.commands.push_back({.words = "version",
                            .arguments = {},
                            .summary = "Prints the version.",
                            .details = {},
                            .groups = {},
                            .examples = {}});
    return out;
}

std::vector<option_group> setting_groups()
{
    std::vector<option_group> out;
    append_settings(out, audience::serve);
    std::erase_if(out.front().options, [](const auto& o) { return o.flag == "config"; });
    return out;
}

}  // namespace restante::manual
