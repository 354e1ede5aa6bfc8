#include "cli/help.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t width = 100;

constexpr std::string_view exit_codes =
    "Exit codes: 0 done, 1 failed (stderr says why), 2 wrong usage or a bad setting.\n";

// Wraps the text into lines that start at this column; the first line is already there. A bracketed text is
// not broken.
void append_wrapped(std::string& out, std::string_view text, std::size_t column)
{
    std::size_t at = column;
    while (!text.empty()) {
        const auto space = std::min(text.find(' ', text.front() == '[' ? text.find(']') : 0), text.size());
        const auto word = text.substr(0, space);
        if (at > column && at + 1 + word.size() > width) {
            out += '\n';
            out.append(column, ' ');
            at = column;
        } else if (at > column) {
            out += ' ';
            ++at;
        }
        out += word;
        at += word.size();
        text.remove_prefix(std::min(space + 1, text.size()));
    }
    out += '\n';
}

// Two columns: names on the left, descriptions on the right.
class two_columns {
public:
    void add(std::string left, std::string right)
    {
        widest_ = std::max(widest_, left.size());
        rows_.emplace_back(std::move(left), std::move(right));
    }

    std::size_t widest() const { return widest_; }

    void print(std::string& out, std::size_t left_width) const
    {
        for (const auto& [left, right] : rows_) {
            out += "  " + left;
            out.append(left_width - left.size() + 2, ' ');
            append_wrapped(out, right, left_width + 4);
        }
    }

private:
    std::vector<std::pair<std::string, std::string>> rows_;
    std::size_t widest_ = 0;
};

std::string flag_text(std::string_view flag, std::string_view value_name)
{
    std::string out = "--" + std::string(flag);
    if (!value_name.empty())
        out += ' ' + std::string(value_name);
    return out;
}

std::string meaning(const option& o)
{
    std::string out(o.help);
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
        out.back().rows.add(flag_text(o.flag, o.value_name), meaning(o));
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
        if (*entry.reads != audience::tools)
            out +=
                "Durations are written 500ms, 90s, 5m, 1h, 30d; sizes in bytes or as 64KiB, 128MiB, 1GiB.\n";
    }
    out += exit_codes;
    return out;
}

}  // namespace restante
