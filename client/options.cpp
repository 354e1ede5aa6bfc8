#include "client/options.hpp"

#include <algorithm>

namespace restante::client {

namespace {

constexpr unsigned pull = bit(verb::pull);
constexpr unsigned send = bit(verb::send);
constexpr unsigned login = bit(verb::login);
constexpr unsigned all = pull | send | login;

// clang-format off
constexpr option table[] = {
    {"server", "URL", &settings::server,
     "The server. [default http://127.0.0.1:8080]", all},
    {"workspace", "ID", &settings::workspace,
     "The workspace whose token is used; pull fetches its files.", all},
    {"to", "ID", &settings::to,
     "The workspace that gets the files. [default --workspace]", send, false},
    {"token-file", "FILE", &settings::token_file,
     "File that holds the token; only its owner may be able to read it.", all},
    {"token-command", "COMMAND", &settings::token_command,
     "Prints the token. It is run again when the server refuses the token.", all},
    {"ca-file", "FILE", &settings::ca_file,
     "Certificates in PEM that vouch for the server, besides the system's.", all},
    {"into", "DIR", &settings::into,
     "Directory that gets the files. [default .]", pull | login},
    {"once", "", &settings::once,
     "Fetches what is there and ends, instead of waiting for more.", pull, false},
    {"parallel", "N", &settings::parallel,
     "Most files fetched at the same time. [default 4]", pull, true, 1, 64},
    {"exec", "COMMAND", &settings::exec,
     "Run by sh for each file and message, with the row as JSON on its standard input and RESTANTE_FILE, "
     "RESTANTE_NAME, RESTANTE_SHA256 and RESTANTE_WORKSPACE in its environment. A file is acked only after "
     "its command has succeeded.", pull},
    {"exec-parallel", "N", &settings::exec_parallel,
     "Most commands at the same time. [default 1]", pull, true, 1, 64},
    {"exec-timeout", "DURATION", &settings::exec_timeout,
     "A command that runs longer is killed and counts as failed. [default 10m]", pull},
    {"message", "TEXT", &settings::message,
     "A chat message that is sent after the files and names them.", send, false},
    {"wait", "STATE", &settings::wait,
     "Ends when the files are staged, fetched or acked. [default staged]", send, false,
     0, 0, "staged fetched acked"},
    {"name", "NAME", &settings::name,
     "The name of the one file that is sent, or of what comes from standard input; for login, of a new workspace.", send | login, false},
    {"register", "", &settings::register_workspace,
     "Registers a new workspace instead of storing the token of an existing one.", login, false},
    {"give-up-after", "DURATION", &settings::give_up_after,
     "How long a request that cannot be decided is repeated. A pull without --once never gives up. "
     "[default 10m]", pull | send},
    {"json", "", &settings::json,
     "Prints one JSON object per line, for programs.", pull | send, false},
    {"config", "FILE", &settings::config_file,
     "Settings are in FILE; login writes it, with the token beside it. [default "
     "$XDG_CONFIG_HOME/restante/client.conf]", all, false},
};
// clang-format on

}  // namespace

std::span<const option> option_table()
{
    return table;
}

const option* find_option(verb what, std::string_view flag)
{
    const auto fits = [&](const option& o) { return o.flag == flag && (o.verbs & bit(what)) != 0; };
    const auto at = std::find_if(std::begin(table), std::end(table), fits);
    return at == std::end(table) ? nullptr : at;
}

std::string environment_name(const option& o)
{
    // RESTANTE_CONFIG is the server's.
    if (o.flag == "config")
        return "RESTANTE_CLIENT_CONFIG";
    std::string name = "RESTANTE_";
    for (const char c : o.flag)
        name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
    return name;
}

}  // namespace restante::client
