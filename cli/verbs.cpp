#include "cli/verbs.hpp"

namespace restante {

namespace {

constexpr own_option json{"json", "", &own_options::json, "Prints JSON, for programs."};

constexpr own_option migrate_options[] = {
    {"to", "N", &own_options::to, "Migrates up or down to version N instead of up to the newest."},
    {"dry-run", "", &own_options::dry_run, "Prints what would be done, without doing it."},
    {"yes-lose-files", "", &own_options::yes_lose_files,
     "Lets --to delete waiting files, activity rows and workspaces."},
};
constexpr own_option status_options[] = {
    json,
    {"watch", "", &own_options::watch, "Refreshes every two seconds, until interrupted."},
};
constexpr own_option add_options[] = {
    {"mode", "MODE", &own_options::mode, "How files reach it: poll or push. [default poll]"},
    {"url", "URL", &own_options::url, "Address at which a push workspace is called."},
    {"name", "NAME", &own_options::name, "A name for people."},
    json,
};
constexpr own_option list_options[] = {json};
constexpr own_option secret_options[] = {
    {"rotate", "", &own_options::rotate, "Makes a new one first; the old one is worth nothing from then on."},
};

constexpr positional maybe_id[] = {{"ID", false, true}};
constexpr positional id[] = {{"ID", true, true}};
constexpr positional workspace[] = {{"WORKSPACE", true, true}};
constexpr positional workspace_and_token[] = {{"WORKSPACE", true, true}, {"TOKEN_ID", true, false}};

constexpr std::string_view token_on_stdout =
    "The token goes to stdout and everything else to stderr. Only its hash is stored: it cannot be shown "
    "again.";

constexpr verb_entry table[] = {
    {verb::serve,
     "serve",
     "Runs the server.",
     {},
     {},
     audience::serve,
     "Once it is ready it prints one line to stdout, `restante ready http=... https=... metrics=...`, with the "
     "addresses that it listens on. Its log goes to stderr, one JSON object per line. SIGTERM or SIGINT shuts "
     "it down gracefully, a second one at once; SIGHUP reloads the certificate."},
    {verb::migrate,
     "migrate",
     "Brings the database schema up to date.",
     {},
     migrate_options,
     audience::tools},
    {verb::sweep,
     "sweep",
     "Runs one sweep, which deletes expired rows, and prints how many.",
     {},
     {},
     audience::sweep},
    {verb::status,
     "status",
     "Shows the database, the files that are waiting, and the running servers.",
     {},
     status_options,
     audience::tools},
    {verb::workspace_add, "workspace add",
     "Adds a workspace, under a new id unless one is given, and prints its first token.", maybe_id,
     add_options, audience::tools, token_on_stdout},
    {verb::workspace_list, "workspace list", "Lists the workspaces.", {}, list_options, audience::tools},
    {verb::workspace_secret, "workspace secret",
     "Prints what the server proves itself with when it calls a workspace.", id, secret_options,
     audience::tools, "The secret goes to stdout and everything else to stderr."},
    {verb::workspace_remove,
     "workspace remove",
     "Marks a workspace removed and revokes its tokens.",
     id,
     {},
     audience::tools},
    {verb::token_issue,
     "token issue",
     "Creates another token for a workspace and prints it.",
     workspace,
     {},
     audience::tools,
     token_on_stdout},
    {verb::token_list, "token list", "Lists the tokens of a workspace: their prefixes and times.", workspace,
     list_options, audience::tools},
    {verb::token_revoke,
     "token revoke",
     "Revokes a token; running servers refuse it within 5 s.",
     workspace_and_token,
     {},
     audience::tools},
    {verb::version, "version", "Prints the version.", {}, {}, std::nullopt},
};

}  // namespace

std::span<const verb_entry> verb_table()
{
    return table;
}

}  // namespace restante
