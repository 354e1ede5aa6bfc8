#include "manual/man_pages.hpp"

#include "manual/man_page.hpp"

#include <cctype>

namespace restante::manual {

namespace {

// "Runs the server." → "runs the server", as whatis(1) lists it.
std::string short_summary(std::string_view summary)
{
    std::string out(summary.substr(0, summary.find(". ")));
    if (out.ends_with('.'))
        out.pop_back();
    out.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(out.front())));
    return out;
}

void add_name(man_page& page, const std::string& name, const std::string& summary)
{
    page.section("Name").name(name, short_summary(summary));
}

std::string term_of(const option_entry& o)
{
    return bold("--" + o.flag) + (o.value.empty() ? "" : ' ' + italic(o.value));
}

std::string synopsis_of(const program_entry& program, const command_entry& command)
{
    std::string out = bold(program.name + ' ' + command.words);
    if (!command.arguments.empty())
        out += ' ' + italic(command.arguments);
    return command.groups.empty() ? out : out + " [\\fIOPTION\\fR]...";
}

void add_options(man_page& page, const command_entry& command)
{
    if (command.groups.empty())
        return;
    page.section("Options");
    for (const auto& group : command.groups) {
        if (command.groups.size() > 1)
            page.subsection(group.title == "Options" ? "Of this command" : group.title);
        for (const auto& o : group.options)
            page.item(term_of(o), o.help);
    }
}

bool reads_settings(const command_entry& command)
{
    for (const auto& group : command.groups)
        if (group.title != "Options")
            return true;
    return false;
}

void add_environment(man_page& page, const command_entry& command)
{
    if (reads_settings(command)) {
        page.section("Environment")
            .paragraph(
                "Each setting can also come from the environment, --data-dir from `RESTANTE_DATA_DIR`, or from "
                "the file that --config names, where lists are separated by commas. A flag overrides the "
                "environment, which overrides the file.");
        return;
    }
    if (command.groups.empty())
        return;
    page.section("Environment");
    for (const auto& o : command.groups.front().options)
        if (!o.variable.empty())
            page.item(bold(o.variable), "The same as --" + o.flag + '.');
    page.item(bold("RESTANTE_TOKEN"), "The token itself.");
}

void add_exit_status(man_page& page, bool of_the_client)
{
    page.section("Exit status").item(bold("0"), "Done.").item(bold("1"), "Failed; standard error says why.");
    page.item(bold("2"), "Wrong usage or a bad setting.");
    if (!of_the_client)
        return;
    page.item(bold("3"), "Refused by the server.").item(bold("4"), "Not authorized.");
    page.item(bold("5"), "Gave up after retries.").item(bold("6"), "Quota, or too large.");
    page.item(bold("130"), "Interrupted.");
}

void add_examples(man_page& page, const command_entry& command)
{
    if (command.examples.empty())
        return;
    page.section("Examples");
    for (const auto& example : command.examples) {
        page.code(example.command);
        page.line(".RS 4").line(escaped(example.meaning)).line(".RE");
    }
}

std::string reference(const std::string& name, int section)
{
    return bold(name) + '(' + std::to_string(section) + ')';
}

bool is_of_the_client(const command_entry& command)
{
    return !command.groups.empty() && !reads_settings(command);
}

made_file command_page(const program_entry& program, const command_entry& command, const edition& which)
{
    const auto name = program.name + '-' + command.page();
    man_page page(name, 1, which.date, which.version);
    add_name(page, name, command.summary);
    page.section("Synopsis").line(synopsis_of(program, command));
    page.section("Description").paragraph(command.summary);
    if (!command.details.empty())
        page.paragraph(command.details);
    add_options(page, command);
    add_environment(page, command);
    add_examples(page, command);
    add_exit_status(page, is_of_the_client(command));
    page.section("See also");
    if (reads_settings(command))
        page.line(reference(program.name, 1) + ',').line(reference("restante.conf", 5));
    else
        page.line(reference(program.name, 1));
    return {name + ".1", page.text()};
}

made_file overview_page(const program_entry& program, const edition& which)
{
    man_page page(program.name, 1, which.date, which.version);
    add_name(page, program.name, program.summary);
    page.section("Synopsis").line(bold(program.name) + " \\fICOMMAND\\fR [\\fIOPTION\\fR]...");
    page.section("Description").paragraph(program.details);
    page.section("Commands");
    for (const auto& command : program.commands)
        page.item(synopsis_of(program, command), command.summary);
    page.section("Files");
    if (program.name == "restante")
        page.item("\\fI/etc/restante/restante.conf\\fR", "Settings of the service; see `restante.conf`(5).");
    page.item("\\fI$XDG_CONFIG_HOME/restante/client.conf\\fR",
              "Settings of `pull` and `send`, written by `login`.");
    add_exit_status(page, program.name != "restante");
    page.section("See also");
    for (const auto& command : program.commands)
        page.line(reference(program.name + '-' + command.page(), 1) +
                  (&command == &program.commands.back() ? "" : ","));
    return {program.name + ".1", page.text()};
}

}  // namespace

std::vector<made_file> make_man_pages(const program_entry& program, const edition& which)
{
    std::vector<made_file> out{overview_page(program, which)};
    for (const auto& command : program.commands)
        out.push_back(command_page(program, command, which));
    return out;
}

made_file make_config_page(const edition& which)
{
    man_page page("restante.conf", 5, which.date, which.version);
    add_name(page, "restante.conf", "Settings of the Restante server");
    page.section("Description")
        .paragraph(
            "The file that --config names; the service reads `/etc/restante/restante.conf`. Each line is "
            "`key = value`, empty, or a comment that begins with #. A key is a flag of `restante serve` without "
            "its dashes, a switch takes true or false, and lists are separated by commas. Durations are written "
            "500ms, 90s, 5m, 1h, 30d; sizes in bytes or as 64KiB, 128MiB, 1GiB. A flag overrides the "
            "environment, which overrides the file.")
        .paragraph(
            "On SIGHUP the server reads the file again. Settings that SIGHUP reloads change while it runs; others "
            "that differ are named in a warning of the log and take effect with the next start. A file with a "
            "mistake changes nothing.");
    page.section("Settings");
    for (const auto& group : setting_groups()) {
        page.subsection(group.title);
        for (const auto& o : group.options)
            page.item(bold(o.flag) + " = " + (o.value.empty() ? "true" : italic(o.value)), o.help);
    }
    page.section("Example").code("listen = none\nlisten-tls = 0.0.0.0:8443\nupload-ttl = 12h");
    page.section("See also").line(reference("restante", 1) + ',').line(reference("restante-serve", 1));
    return {"restante.conf.5", page.text()};
}

}  // namespace restante::manual
