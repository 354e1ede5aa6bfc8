#include "client/verbs.hpp"

#include "cli/help_text.hpp"
#include "client/options.hpp"

#include <boost/algorithm/string/replace.hpp>

namespace restante::client {

namespace {

constexpr verb_entry table[] = {
    {verb::pull, "pull", "", "Fetches the files that wait for a workspace, and prints its messages.",
     "Each file is fetched into a partial file, checked against its SHA-256, synced to disk, moved into the "
     "directory, and only then acked. Interrupted at any moment it goes on where it was. The path of each file "
     "and the text of each message go to stdout; progress and troubles go to stderr.",
     "  PROGRAM pull --into ~/inbox\n"
     "      keeps ~/inbox supplied until it is interrupted\n"
     "  PROGRAM pull --once --into ~/inbox --exec 'file \"$RESTANTE_FILE\"'\n"
     "      fetches what is there, runs a command for each file, and ends\n"},
    {verb::send, "send", "FILE...", "Sends files to a workspace, and perhaps a message about them.",
     "A FILE of - is standard input. The request is repeated until the server has decided, under one "
     "Idempotency-Key, so that nothing is stored twice. Prints the URI of each file on a line.",
     "  PROGRAM send report.pdf photo.jpg --message 'The report, with the photo'\n"
     "      sends two files and a message that names them\n"
     "  tar cz notes | PROGRAM send - --name notes.tar.gz --wait acked\n"
     "      sends what a pipe brings, and waits until the workspace has it\n"},
    {verb::login, "login", "",
     "Stores the server, the workspace and its token, so that pull and send need no flags.",
     "Reads the token from the terminal or from standard input, and asks the server what it is good for and for "
     "which workspace: one that only sends files, or an upload grant, is stored for send. Or registers a new "
     "workspace and keeps the token that the server gives it. Writes client.conf and token in "
     "$XDG_CONFIG_HOME/restante, for the user alone. Prints the id of the workspace.",
     "  PROGRAM login --server https://files.example.com\n"
     "      asks for a token, and the server for its workspace\n"
     "  PROGRAM login --register --name laptop --into ~/inbox\n"
     "      registers a new workspace at the server on this machine\n"},
};

constexpr std::string_view exit_codes =
    "Exit codes: 0 done, 1 failed, 2 wrong usage or a bad setting, 3 refused by the server, 4 not authorized, "
    "5 gave up after retries, 6 quota or too large, 130 interrupted.";

}  // namespace

std::span<const verb_entry> verb_table()
{
    return table;
}

std::string usage_line(std::string_view program, const verb_entry& entry)
{
    std::string out(program);
    out.append(" ").append(entry.word);
    if (!entry.arguments.empty())
        out.append(" ").append(entry.arguments);
    return out + " [OPTION]...";
}

std::string verb_help(std::string_view program, const verb_entry& entry)
{
    std::string out = "Usage: " + usage_line(program, entry) + "\n\n";
    append_wrapped(out, entry.summary, 0);
    out += '\n';
    append_wrapped(out, entry.details, 0);
    out += "\nExamples\n" + boost::replace_all_copy(std::string(entry.examples), "PROGRAM", program);
    out += "\nOptions\n";
    two_columns rows;
    for (const auto& o : option_table())
        if ((o.verbs & bit(entry.what)) != 0)
            rows.add(flag_text(o.flag, o.value_name), std::string(o.help));
    rows.print(out, rows.widest());
    out += '\n';
    append_wrapped(
        out,
        "Most options can also come from the environment (--token-file from RESTANTE_TOKEN_FILE; the "
        "token itself from RESTANTE_TOKEN) or from client.conf (token-file = ...). A flag overrides "
        "the environment, which overrides the file.",
        0);
    append_wrapped(out, exit_codes, 0);
    return out;
}

}  // namespace restante::client
