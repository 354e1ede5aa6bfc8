#include "cli/help.hpp"

#include "cli/help_text.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::string_view exit_codes =
    "Exit codes: 0 done, 1 failed (stderr says why), 2 wrong usage or a bad setting.\n";

std::string meaning(const option& o, audience reader)
{
    std::string out(o.help);
    if (o.reloads && reader == audience::serve)
        out += " SIGHUP reloads it.";
    if (const auto text = default_text(o); !text.empty())
        out += " [default " + text + "]";
    return out;
}

struct section {
    std::string_view title;
    two_columns rows;
};

std::vector<section> sections_of(const verb_entry& entry)
{
    std::vector<section> out;
    if (!entry.own.empty())
        out.push_back({"Options", {}});
    for (const auto& o : entry.own)
        out.back().rows.add(flag_text(o.flag, o.value_name), std::string(o.help));
    if (!entry.reads)
        return out;
    for (const auto& o : option_table()) {
        if (!is_read_by(o, *entry.reads))
            continue;
        if (out.empty() || out.back().title != o.group)
            out.push_back({o.group, {}});
        out.back().rows.add(flag_text(o.flag, o.value_name), meaning(o, *entry.reads));
    }
    return out;
}

std::string words_and_arguments(const verb_entry& entry)
{
    std::string out(entry.words);
    for (const auto& argument : entry.arguments)
        out += argument.required ? ' ' + std::string(argument.name) : " [" + std::string(argument.name) + ']';
    return out;
}

void append_verbs(std::string& out, std::string_view first_word)
{
    two_columns rows;
    for (const auto& entry : verb_table())
        if (first_word.empty() || entry.words.starts_with(std::string(first_word) + ' '))
            rows.add(words_and_arguments(entry), std::string(entry.summary));
    out += "\nCommands\n";
    rows.print(out, rows.widest());
    out += "\n`restante COMMAND --help` lists the options of a command.\n";
    out += exit_codes;
}

}  // namespace

std::string usage_line(const verb_entry& entry)
{
    return "restante " + words_and_arguments(entry) + (entry.reads ? " [OPTION]..." : "");
}

std::string general_help()
{
    std::string out =
        "Usage: restante COMMAND [OPTION]...\n\n"
        "Restante holds chat uploads until their workspace calls for them.\n";
    append_verbs(out, "");
    return out;
}

std::string family_help(std::string_view first_word)
{
    std::string out = "Usage: restante " + std::string(first_word) + " COMMAND\n";
    append_verbs(out, first_word);
    return out;
}

std::string verb_help(const verb_entry& entry)
{
    std::string out = "Usage: " + usage_line(entry) + "\n\n";
    append_wrapped(out, entry.summary, 0);
    if (!entry.details.empty()) {
        out += '\n';
        append_wrapped(out, entry.details, 0);
    }

    const auto sections = sections_of(entry);
    std::size_t left_width = 0;
    for (const auto& part : sections)
        left_width = std::max(left_width, part.rows.widest());
    for (const auto& part : sections) {
        out += '\n' + std::string(part.title) + '\n';
        part.rows.print(out, left_width);
    }

    out += '\n';
    if (entry.reads) {
        append_wrapped(
            out,
            "Each setting can also come from the environment (--data-dir from RESTANTE_DATA_DIR) or from "
            "the config file (data-dir = ...), where lists are separated by commas. A flag "
            "overrides the environment, which overrides the file.",
            0);
        out += "Durations are written 500ms, 90s, 5m, 1h, 30d; sizes in bytes or as 64KiB, 128MiB, 1GiB.\n";
    }
    out += exit_codes;
    return out;
}

}  // namespace restante
