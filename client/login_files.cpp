#include "client/login_files.hpp"

#include "cli/config_file.hpp"
#include "client/token.hpp"
#include "core/ids.hpp"

#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace restante::client {

namespace {

namespace fs = std::filesystem;

using stored_values = std::vector<std::pair<std::string, std::string>>;

struct file_names {
    fs::path folder;
    std::string conf = "client.conf";
    std::string token = "token";
};

// A file of --config has a token of its own.
file_names names_of(const settings& config, const places& where)
{
    if (config.config_file.empty())
        return {.folder = where.config};
    const auto path = fs::absolute(config.config_file);
    return {
        .folder = path.parent_path(), .conf = path.filename(), .token = path.filename().string() + ".token"};
}

// One source of the token only: the next command could not tell which of two is meant.
stored_values values_of(const settings& config, const file_names& names)
{
    stored_values out{{"server", config.server}, {"workspace", config.workspace}};
    const bool stored = stores_token(config);
    std::string token_file = config.token_file;
    if (stored)
        token_file = names.folder / names.token;
    else if (!token_file.empty())
        token_file = fs::absolute(token_file);
    out.emplace_back("token-file", token_file);
    out.emplace_back("token-command", stored ? "" : config.token_command);
    if (config.into != settings().into)
        out.emplace_back("into", fs::absolute(config.into).lexically_normal());
    if (!config.ca_file.empty())
        out.emplace_back("ca-file", fs::absolute(config.ca_file));
    return out;
}

outcome<void> check(const stored_values& values, const std::string& file)
{
    for (const auto& [key, value] : values)
        if (!fits_config_line(value))
            return failure{exit_code::usage, "bad_setting",
                           "The value of " + key + " cannot be stored: in " + file +
                               " a value has no #, which begins a comment, no line break, and no white " +
                               "space around it."};
    return {};
}

// The workspace that the file names so far. What cannot be read is nobody's.
std::string workspace_in(const fs::path& file)
{
    const auto lines = read_config_lines(file);
    std::string found;
    for (const auto& [key, value] : lines ? *lines : config_lines())
        if (key == "workspace")
            if (const auto id = parse_uuid(value))
                found = to_string(*id);
    return found;
}

}  // namespace

bool stores_token(const settings& config)
{
    return config.register_workspace || (config.token_file.empty() && config.token_command.empty());
}

outcome<login_files> login_files::prepare(const settings& config, const places& where)
{
    const auto names = names_of(config, where);
    const auto values = values_of(config, names);
    if (auto good = check(values, names.conf); !good)
        return good.error();
    if (auto made = make_directories(names.folder); !made)
        return made.error();
    auto folder = open_directory(names.folder);
    if (!folder)
        return folder.error();
    const auto before = read_whole(folder->get(), names.conf);
    if (!before)
        return before.error();
    auto text = with_settings(*before, values);
    auto conf = replacement::make(folder->get(), names.conf, text.size());
    if (!conf)
        return conf.error();
    login_files out(*std::move(folder), std::move(text), *std::move(conf));
    if (stores_token(config)) {
        auto token = replacement::make(out.folder_.get(), names.token, longest_token + 1);
        if (!token)
            return token.error();
        out.token_.emplace(*std::move(token));
        out.path_ = names.folder / names.token;
        out.workspace_ = workspace_in(names.folder / names.conf);
        if (out.workspace_ == config.workspace)
            out.workspace_.clear();
    }
    return out;
}

outcome<void> login_files::store(const std::string& token)
{
    if (token_) {
        keep_replaced();
        if (auto written = token_->commit(token + '\n'); !written)
            return written;
    }
    return conf_.commit(text_);
}

// Best effort: without it the new token, which may be known to nobody else either, is stored all the same.
void login_files::keep_replaced()
{
    if (workspace_.empty())
        return;
    // One that was kept before is older than what is there now.
    auto kept = path_ + '.' + workspace_;
    if (std::rename(path_.c_str(), kept.c_str()) == 0)
        kept_ = std::move(kept);
}

std::string with_settings(std::string_view text, const stored_values& values)
{
    std::string out;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto key = boost::trim_copy(std::string(line.substr(0, line.find('='))));
        const auto same = [&](const auto& each) { return each.first == key; };
        if (std::none_of(values.begin(), values.end(), same))
            out.append(line).append("\n");
    }
    for (const auto& [key, value] : values)
        if (!value.empty())
            out += key + " = " + value + '\n';
    return out;
}

}  // namespace restante::client
