#pragma once

#include "cli/config.hpp"
#include "client/failure.hpp"
#include "http/client/http_url.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace restante::client {

enum class verb { pull, send, login };

// Every setting of the client, validated; only settings.cpp reads flags, the environment and client.conf.
struct settings {
    std::string config_file;

    std::string server = "http://127.0.0.1:8080";
    http_url url;  // the same, parsed
    std::string workspace;
    std::string token_file;
    std::string token_command;
    std::string token;  // from RESTANTE_TOKEN
    std::string ca_file;
    bool json = false;
    std::chrono::milliseconds give_up_after = std::chrono::minutes(10);

    // pull
    std::string into = ".";
    bool once = false;
    unsigned parallel = 4;
    std::string exec;
    unsigned exec_parallel = 1;
    std::chrono::milliseconds exec_timeout = std::chrono::minutes(10);

    // send
    std::string to;
    std::string message;
    std::string wait = "staged";
    std::string name;

    // login
    bool register_workspace = false;
};

// Where the files of one user are: the XDG directories.
struct places {
    std::string config;  // $XDG_CONFIG_HOME/restante
    std::string state;   // $XDG_STATE_HOME/restante
};
// Relative values are ignored, as the XDG specification says. Fails when there is no HOME either.
outcome<places> find_places(const environment& env);

struct given_flag {
    std::string flag;
    std::string value;
};

// A flag overrides the environment (RESTANTE_SERVER for --server), which overrides the file: the one that
// --config or RESTANTE_CLIENT_CONFIG names, or client.conf among the user's places if there is one. In the
// text of a failure PROGRAM stands for what the user typed.
outcome<settings> load_settings(verb what, const std::vector<given_flag>& flags, const environment& env);

}  // namespace restante::client
