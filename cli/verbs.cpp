#include "cli/verbs.hpp"

namespace restante {

namespace {

constexpr own_option json{"json", "", &own_options::json, "Prints JSON, for programs."};

constexpr own_option migrate_options[] = {
    {"to", "N", &own_options::to, "Migrates up or down to version N instead of up to the newest."},
    {"dry-run", "", &own_options::dry_run, "Prints what would be done, without doing it."},
    {"yes-lose-files", "", &own_options::yes_lose_files,
     "Lets --to delete waiting files, activity and other rows, and revoke tokens with a scope."},
};
constexpr own_option status_options[] = {
    json,
    {"watch", "", &own_options::watch, "Refreshes every two seconds, until interrupted."},
};
constexpr own_option add_options[] = {
    {"mode", "MODE", &own_options::mode, "How files reach it: poll or push. [default poll]", "poll push"},
    {"url", "URL", &own_options::url, "Address at which a push workspace is called."},
    {"name", "NAME", &own_options::name, "A name for people."},
    json,
};
constexpr own_option list_options[] = {json};
constexpr own_option issue_options[] = {
    {"scope", "SCOPE", &own_options::scope, "What it may do: full, upload or read. [default full]",
     "full upload read"},
    {"name", "NAME", &own_options::name, "A name for people."},
    {"expires", "DURATION", &own_options::expires,
     "How long it lives, such as 12h or 90d. [default for good]"},
    json,
};
// More than the API takes, whose words say how many that are.
constexpr std::int64_t most_of_a_grant = 1'000'000'000;

constexpr own_option grant_options[] = {
    {"expires", "DURATION", &own_options::expires, "How long it lives, up to 30d. [default 15m]"},
    {"requests", "N", &own_options::requests, "Most upload requests. [default 1]", {}, most_of_a_grant},
    {"files", "N", &own_options::files, "Most files, over all requests. [default 5]", {},
     most_of_a_grant},
    {"bytes", "BYTES", &own_options::bytes, "Most bytes, over all requests. [default 50MiB]"},
    {"types", "LIST", &own_options::types,
     "Media types that it takes, such as image/*,application/pdf. [default all]"},
    {"note", "TEXT", &own_options::note, "A note for people."},
    json,
};
constexpr own_option secret_options[] = {
    {"rotate", "", &own_options::rotate, "Makes a new one first; the old one is worth nothing from then on."},
};

constexpr own_option quota_options[] = {
    {"bytes", "BYTES", &own_options::bytes,
     "Most bytes that may wait for it: a size, 0 for no limit, or default."},
    {"files", "N", &own_options::files,
     "Most files that may wait for it: a number, 0 for no limit, or default."},
    json,
};

constexpr own_option check_options[] = {
    {"repair", "", &own_options::repair, "Removes bytes that no row names."},
    json,
};
constexpr own_option move_options[] = {
    {"to", "STORE", &own_options::place, "Where the bytes go: inline, directory or s3.",
     "inline directory s3"},
    {"dry-run", "", &own_options::dry_run, "Prints how much would be moved, without doing it."},
    json,
};

constexpr positional maybe_id[] = {{"ID", false, true}};
constexpr positional id[] = {{"ID", true, true}};
constexpr positional workspace[] = {{"WORKSPACE", true, true}};
constexpr positional workspace_and_grant[] = {{"WORKSPACE", true, true}, {"GRANT_ID", true, false}};
constexpr positional workspace_and_token[] = {{"WORKSPACE", true, true}, {"TOKEN_ID", true, false}};

constexpr std::string_view token_on_stdout =
    "The token goes to stdout and everything else to stderr. Only its hash is stored: it cannot be shown "
    "again.";

constexpr std::string_view grant_on_stdout =
    "The link with the grant goes to stdout and everything else to stderr. Only the grant's hash is stored: it "
    "cannot be shown again. The link begins with --public-url, or with the first address that `restante serve` "
    "listens on by default.";

constexpr verb_entry table[] = {
    {verb::serve,
     "serve",
     "Runs the server.",
     {},
     {},
     audience::serve,
     "Once it is ready it prints one line to stdout, `restante ready http=... https=... metrics=...`, with the "
     "addresses that it listens on. Its log goes to stderr, one JSON object per line. SIGTERM or SIGINT shuts "
     "it down gracefully, a second one at once; SIGHUP reads the config file again: what cannot change while it runs is named in "
     "a warning, and a file with a mistake changes nothing."},
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
    {verb::workspace_quota, "workspace quota",
     "Shows how much may wait for a workspace and how much does, after changing it if asked to.", id,
     quota_options, audience::tools},
    {verb::workspace_remove,
     "workspace remove",
     "Marks a workspace removed and revokes its tokens.",
     id,
     {},
     audience::tools},
    {verb::token_issue, "token issue", "Creates another token for a workspace and prints it.", workspace,
     issue_options, audience::tools, token_on_stdout},
    {verb::token_list, "token list", "Lists the tokens of a workspace: their prefixes, scopes and times.",
     workspace, list_options, audience::tools},
    {verb::token_revoke,
     "token revoke",
     "Revokes a token; running servers refuse it within 5 s.",
     workspace_and_token,
     {},
     audience::tools},
    {verb::grant_create, "grant create", "Creates an upload grant for a workspace and prints a link with it.",
     workspace, grant_options, audience::tools, grant_on_stdout},
    {verb::grant_list, "grant list", "Lists the upload grants of a workspace, with what is left of each.",
     workspace, list_options, audience::tools},
    {verb::grant_revoke,
     "grant revoke",
     "Revokes an upload grant; running servers refuse it within 5 s.",
     workspace_and_grant,
     {},
     audience::tools},
    {verb::content_check,
     "content check",
     "Compares the stored bytes of all files with their rows.",
     {},
     check_options,
     audience::tools,
     "Finds rows without bytes, bytes with a wrong SHA-256 or that cannot be read, and bytes without a row, "
     "of hours that ended two hours ago. Exits with 1 when something is wrong and was not repaired. Servers "
     "may run meanwhile; the settings of the content stores must be theirs."},
    {verb::content_move,
     "content move",
     "Moves the bytes of all files into another store.",
     {},
     move_options,
     audience::tools,
     "Files up to --content-inline-max stay in their rows, and files above 26214400 bytes cannot go there. "
     "Servers may run meanwhile; they remove the bytes that are left behind, and must have the same settings "
     "of the content stores to find those that were moved. Exits with 1 when some files could not be moved. "
     "What was moved before it was interrupted stays moved; run it again for the rest."},
    {verb::pull,
     "pull",
     "Fetches the files that wait for a workspace, and prints its messages.",
     {},
     {},
     std::nullopt},
    {verb::send,
     "send",
     "Sends files to a workspace, and perhaps a message about them.",
     {},
     {},
     std::nullopt},
    {verb::login,
     "login",
     "Stores the server, the workspace and its token for pull and send.",
     {},
     {},
     std::nullopt},
    {verb::openapi,
     "openapi",
     "Prints the OpenAPI document of a server with default settings.",
     {},
     {},
     std::nullopt,
     "A running server has its own at GET /openapi.json."},
    {verb::version, "version", "Prints the version.", {}, {}, std::nullopt},
};

}  // namespace

std::span<const verb_entry> verb_table()
{
    return table;
}

}  // namespace restante
