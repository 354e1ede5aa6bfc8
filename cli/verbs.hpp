#pragma once

#include "cli/options.hpp"

namespace restante {

enum class verb {
    serve,
    migrate,
    sweep,
    status,
    workspace_add,
    workspace_list,
    workspace_secret,
    workspace_quota,
    workspace_remove,
    token_issue,
    token_list,
    token_revoke,
    grant_create,
    grant_list,
    grant_revoke,
    content_check,
    content_move,
    pull,  // these three are read by client/command_line
    send,
    login,
    openapi,
    version,
};

// The options of individual verbs that are not settings: only flags set them.
struct own_options {
    std::optional<unsigned> to;  // migrate
    bool dry_run = false;  // and content move
    bool yes_lose_files = false;
    bool json = false;
    bool watch = false;
    bool rotate = false;        // workspace secret
    std::string mode = "poll";  // workspace add
    std::string url;
    std::string name;            // and token issue
    std::string scope = "full";  // token issue
    std::string expires;         // and grant create
    std::string requests;        // grant create
    std::string files;           // and workspace quota
    std::string bytes;           // and workspace quota
    std::string types;
    std::string note;
    bool repair = false;  // content check
    std::string place;    // content move
};

using own_member =
    std::variant<bool own_options::*, std::string own_options::*, std::optional<unsigned> own_options::*>;

struct own_option {
    std::string_view flag;
    std::string_view value_name;  // empty: a switch
    own_member member;
    std::string_view help;
    std::string_view choices = {};  // of the value, separated by spaces, if these are a closed set
    std::int64_t most = 9999;       // of a number
};

// An argument without dashes.
struct positional {
    std::string_view name;
    bool required;
    bool is_uuid;
};

struct verb_entry {
    verb what;
    std::string_view words;  // as typed: "serve", "workspace add"
    std::string_view summary;
    std::span<const positional> arguments;
    std::span<const own_option> own;
    std::optional<audience> reads;  // the settings it accepts; none for version
    std::string_view details = {};  // additional help text
};

std::span<const verb_entry> verb_table();

}  // namespace restante
