#include "cli/verbs.hpp"

namespace restante {

namespace {

constexpr own_option json{"json", "", &own_options::json, "Answers in JSON, for programs."};

constexpr own_option migrate_options[] = {
    {"to", "N", &own_options::to, "Goes up or down to migration N instead of up to the last."},
    {"dry-run", "", &own_options::dry_run, "Says what would be done and does nothing."},
    {"yes-lose-files", "", &own_options::yes_lose_files,
     "Lets --to delete waiting files, activity and workspaces."},
};
constexpr own_option status_options[] = {
    json,
    {"watch", "", &own_options::watch, "Shows it every two seconds, until interrupted."},
};
constexpr own_option add_options[] = {
    {"mode", "MODE", &own_options::mode, "How files reach it: poll or push. [default poll]"},
    {"url", "URL", &own_options::url, "Where a push workspace is called."},
    {"name", "NAME", &own_options::name, "A name for people."},
    json,
};
constexpr own_option list_options[] = {json};

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
     "Once it is up it prints one line on stdout, `restante ready http=... https=... metrics=...`, with the "
     "addresses that it listens on. Its log goes to stderr, one JSON object a line. SIGTERM or SIGINT stops "
     "it in "
     "order, a second one at once; SIGHUP reads the certificate again."},
    {verb::migrate,
     "migrate",
     "Brings the database schema up to date.",
     {},
     migrate_options,
     audience::tools},
    {verb::sweep, "sweep", "Deletes what has expired, once, and says how much.", {}, {}, audience::sweep},
    {verb::status,
     "status",
     "Shows what waits, for whom and since when.",
     {},
     status_options,
     audience::tools},
    {verb::workspace_add, "workspace add",
     "Adds a workspace, under a new id unless one is given, and prints its first token.", maybe_id,
     add_options, audience::tools, token_on_stdout},
    {verb::workspace_list, "workspace list", "Lists the workspaces.", {}, list_options, audience::tools},
    {verb::workspace_remove,
     "workspace remove",
     "Marks a workspace removed and revokes its tokens.",
     id,
     {},
     audience::tools},
    {verb::token_issue,
     "token issue",
     "Makes a further token for a workspace and prints it, once.",
     workspace,
     {},
     audience::tools,
     token_on_stdout},
    {verb::token_list, "token list", "Lists the tokens of a workspace by prefix and times.", workspace,
     list_options, audience::tools},
    {verb::token_revoke,
     "token revoke",
     "Revokes a token; running servers follow within 5 s.",
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
