#include "client/settings.hpp"

#include "cli/config_file.hpp"
#include "cli/config_values.hpp"
#include "cli/suggest.hpp"
#include "client/options.hpp"
#include "client/token.hpp"
#include "core/ids.hpp"
#include "http/client/client_error.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace restante::client {

namespace {

using problem = std::optional<std::string>;
using std::chrono::milliseconds;

constexpr auto longest_duration = std::chrono::hours(24 * 30);

problem assign(bool& to, const option&, const std::string& text)
{
    const auto value = parse_bool(text);
    if (!value)
        return "true or false";
    to = *value;
    return std::nullopt;
}

problem assign(unsigned& to, const option& o, const std::string& text)
{
    const auto value = parse_whole_number(text);
    if (!value || *value < o.least || *value > o.most)
        return "a whole number from " + std::to_string(o.least) + " to " + std::to_string(o.most);
    to = static_cast<unsigned>(*value);
    return std::nullopt;
}

problem assign(std::string& to, const option&, const std::string& text)
{
    if (text.find('\0') != std::string::npos)
        return "a text without zero bytes";
    to = text;
    return std::nullopt;
}

problem assign(milliseconds& to, const option&, const std::string& text)
{
    const auto value = parse_duration(text);
    if (!value || *value < milliseconds(1) || *value > longest_duration)
        return "a duration from 1ms to 30d, written like 500ms, 90s, 5m, 1h or 30d";
    to = std::chrono::duration_cast<milliseconds>(*value);
    return std::nullopt;
}

// Which source named a setting, and what it said.
struct given {
    std::string where;
    std::string value;
};

// Takes each setting from the source of highest precedence that names it.
class sources {
public:
    sources(const std::vector<given_flag>& flags, const environment& env) : flags_(flags), env_(env) {}

    problem read_file(const std::string& path)
    {
        auto lines = read_config_lines(path);
        if (!lines)
            return lines.error().message;
        path_ = path;
        lines_ = *std::move(lines);
        for (const auto& [key, value] : lines_)
            if (auto unknown = check_key(key))
                return unknown;
        return std::nullopt;
    }

    std::optional<given> find(const option& o) const
    {
        for (auto at = flags_.rbegin(); at != flags_.rend(); ++at)
            if (at->flag == o.flag)
                return given{"--" + at->flag, at->value};
        if (const auto name = environment_name(o); o.in_file || o.flag == "config")
            if (const auto value = env_(name); value && !value->empty())
                return given{name, *value};
        for (auto at = lines_.rbegin(); at != lines_.rend(); ++at)
            if (at->first == o.flag && o.in_file)
                return given{at->first + " in " + path_, at->second};
        return std::nullopt;
    }

private:
    problem check_key(const std::string& key) const
    {
        std::vector<std::string_view> known;
        for (const auto& o : option_table())
            if (o.in_file)
                known.push_back(o.flag);
        if (std::find(known.begin(), known.end(), key) != known.end())
            return std::nullopt;
        const auto meant = nearest(key, known);
        return "There is no setting " + in_quotes(key) + " (in " + path_ + ")" +
               (meant.empty() ? "." : "; did you mean " + std::string(meant) + "?");
    }

    const std::vector<given_flag>& flags_;
    const environment& env_;
    std::string path_;
    config_lines lines_;
};

problem take(settings& to, const option& o, const sources& from)
{
    const auto found = from.find(o);
    if (!found)
        return std::nullopt;
    const auto rule = std::visit([&](auto member) { return assign(to.*member, o, found->value); }, o.member);
    if (!rule)
        return std::nullopt;
    return found->where + " must be " + *rule + ", but " + in_quotes(found->value) + " was given.";
}

// Any letter case is taken and one is used from then on: the journal of a workspace has its id in its name.
problem take_id(std::string& id, std::string_view what)
{
    if (id.empty())
        return std::nullopt;
    const auto parsed = parse_uuid(id);
    if (!parsed)
        return std::string(what) + " must be a UUID, but " + in_quotes(id) + " was given.";
    id = to_string(*parsed);
    return std::nullopt;
}

problem check_token(const std::string& token)
{
    if (is_visible_ascii(token))
        return std::nullopt;
    return "RESTANTE_TOKEN is not a token: those are visible ASCII characters without spaces.";
}

// A flag or variable for one source of the token overrides what the file says about the other.
problem choose_token_source(settings& s, const sources& from)
{
    const auto strength = [&](std::string_view flag) {
        const auto found = from.find(*find_option(verb::pull, flag));
        if (!found)
            return 0;
        return found->where.starts_with("--") ? 3 : found->where.starts_with("RESTANTE_") ? 2 : 1;
    };
    const int file = strength("token-file");
    const int command = strength("token-command");
    if (file > 0 && file == command)
        return "token-file and token-command are both given; only one of them may be.";
    if (file > 2 || command > 2)
        s.token.clear();
    if (!s.token.empty() || command > file)
        s.token_file.clear();
    if (!s.token.empty() || file > command)
        s.token_command.clear();
    return std::nullopt;
}

problem check_together(settings& s, verb what)
{
    auto url = parse_http_url(s.server);
    if (!url)
        return "--server must be a URL like https://files.example.com, but " + in_quotes(s.server) +
               " was given.";
    s.url = *std::move(url);
    while (s.url.path.ends_with('/'))
        s.url.path.pop_back();
    if (auto wrong = take_id(s.workspace, "--workspace"))
        return wrong;
    if (auto wrong = take_id(s.to, "--to"))
        return wrong;
    if (s.wait != "staged" && s.wait != "fetched" && s.wait != "acked")
        return "--wait must be staged, fetched or acked, but " + in_quotes(s.wait) + " was given.";
    if (s.to.empty())
        s.to = s.workspace;
    if (what != verb::login && (what == verb::send ? s.to : s.workspace).empty())
        return "No workspace is set. `PROGRAM login` stores one; --workspace ID names one.";
    return check_token(s.token);
}

// A shell does this for words that begin with it; for client.conf and --into=~/inbox there is none.
void expand_home(std::string& path, const environment& env)
{
    if (const auto home = env("HOME"); home && path.starts_with("~/"))
        path.replace(0, 1, *home);
}

// One in a directory that may not be entered is not passed over: reading it will say so.
bool may_exist(const std::string& path)
{
    return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

problem load(settings& to, verb what, const std::vector<given_flag>& flags, const environment& env)
{
    sources from(flags, env);
    if (auto wrong = take(to, *find_option(what, "config"), from))
        return wrong;
    // login writes that file, and says what is to be in it.
    if (to.config_file.empty() && what != verb::login)
        if (const auto found = find_places(env); found)
            if (const auto usual = found->config + "/client.conf"; may_exist(usual))
                to.config_file = usual;
    if (!to.config_file.empty() && what != verb::login)
        if (auto wrong = from.read_file(to.config_file))
            return wrong;
    for (const auto& o : option_table())
        if (o.flag != "config" && (o.verbs & bit(what)) != 0)
            if (auto wrong = take(to, o, from))
                return wrong;
    for (auto* path : {&to.into, &to.token_file, &to.ca_file})
        expand_home(*path, env);
    to.token = env("RESTANTE_TOKEN").value_or("");
    if (auto wrong = choose_token_source(to, from))
        return wrong;
    return check_together(to, what);
}

// An absolute path from one variable, or one below HOME.
std::string directory_of(const environment& env, const char* variable, std::string_view below_home)
{
    if (const auto told = env(variable); told && told->starts_with('/'))
        return *told + "/restante";
    if (const auto home = env("HOME"); home && home->starts_with('/'))
        return *home + std::string(below_home) + "/restante";
    return {};
}

}  // namespace

outcome<places> find_places(const environment& env)
{
    places found{directory_of(env, "XDG_CONFIG_HOME", "/.config"),
                 directory_of(env, "XDG_STATE_HOME", "/.local/state")};
    if (found.config.empty() || found.state.empty())
        return failure{exit_code::usage, "no_home", "Neither HOME nor the XDG directories are set."};
    return found;
}

outcome<settings> load_settings(verb what, const std::vector<given_flag>& flags, const environment& env)
{
    settings out;
    if (auto wrong = load(out, what, flags, env))
        return failure{exit_code::usage, "bad_setting", *std::move(wrong)};
    return out;
}

}  // namespace restante::client
