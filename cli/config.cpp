#include "cli/config.hpp"

#include "cli/config_file.hpp"
#include "cli/config_values.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <cstdlib>

namespace restante {

namespace {

using failure = std::optional<std::string>;

constexpr std::size_t shortest_admin_token = 16;
constexpr std::size_t longest_admin_token = 512;  // more is no bearer to auth/bearer.cpp

// The values of one setting, and the name under which the user gave them.
struct given {
    std::string name;
    std::vector<std::string> values;
};

std::vector<std::string> split_list(const std::string& text)
{
    std::vector<std::string> parts;
    boost::split(parts, text, boost::is_any_of(","));
    for (auto& part : parts)
        boost::trim(part);
    return parts;
}

// Takes each setting from the source of highest precedence that names it.
class sources {
public:
    sources(std::span<const given_flag> flags, const environment& env) : flags_(flags), env_(env) {}

    failure read_file(const std::string& path)
    {
        auto lines = read_config_file(path);
        if (!lines)
            return lines.error().message;
        path_ = path;
        lines_ = *std::move(lines);
        return std::nullopt;
    }

    given from_flags(const option& o) const
    {
        given out{"--" + std::string(o.flag), {}};
        for (const auto& flag : flags_) {
            if (flag.what != &o)
                continue;
            const auto values = is_list(o) ? split_list(flag.value) : std::vector{flag.value};
            out.values.insert(out.values.end(), values.begin(), values.end());
        }
        return out;
    }

    given from_environment(const option& o) const
    {
        given out{environment_name(o), {}};
        if (const auto value = env_(out.name); value && !value->empty())
            out.values = is_list(o) ? split_list(*value) : std::vector{*value};
        return out;
    }

    given from_file(const option& o) const
    {
        given out{std::string(o.flag) + " in " + path_, {}};
        for (const auto& [key, value] : lines_) {
            if (key != o.flag)
                continue;
            const auto values = is_list(o) ? split_list(value) : std::vector{value};
            out.values.insert(out.values.end(), values.begin(), values.end());
        }
        return out;
    }

    given strongest(const option& o) const
    {
        if (auto out = from_flags(o); !out.values.empty())
            return out;
        if (auto out = from_environment(o); !out.values.empty())
            return out;
        return from_file(o);
    }

private:
    std::span<const given_flag> flags_;
    const environment& env_;
    std::string path_;
    config_lines lines_;
};

failure take(settings& to, const option& o, const given& from)
{
    if (from.values.empty())
        return std::nullopt;
    if (from.values.size() > 1 && !is_list(o))
        return from.name + " is given more than once.";
    if (const auto refused = assign(to, o, from.values))
        return from.name + " must be " + allowed_values(o) + ", but " + in_quotes(*refused) + " was given.";
    return std::nullopt;
}

failure check_token(const std::string& token, const std::string& source)
{
    const auto visible = [](char c) { return c > 0x20 && c < 0x7F; };
    if (token.size() < shortest_admin_token)
        return "The admin token in " + source + " must have at least 16 characters, but has " +
               std::to_string(token.size()) + ".";
    if (token.size() > longest_admin_token)
        return "The admin token in " + source + " must have at most 512 characters, but has " +
               std::to_string(token.size()) + ".";
    if (!std::all_of(token.begin(), token.end(), visible))
        return "The admin token in " + source +
               " must be made of visible ASCII characters without spaces, so that it fits into a header.";
    return std::nullopt;
}

// The token itself is never a flag: every user of the machine can see flags.
failure take_admin_token(settings& to, const sources& from, const environment& env)
{
    constexpr const char* variable = "RESTANTE_ADMIN_TOKEN";
    const option& file_option = *find_option("admin-token-file");
    const auto token = env(variable).value_or("");
    if (!token.empty() && from.from_flags(file_option).values.empty()) {
        if (!from.from_environment(file_option).values.empty())
            return "RESTANTE_ADMIN_TOKEN and RESTANTE_ADMIN_TOKEN_FILE are both set; only one of them may "
                   "be.";
        to.admin_token = boost::trim_copy(token);
        to.admin_token_file.clear();
        return check_token(to.admin_token, variable);
    }
    if (to.admin_token_file.empty())
        return std::nullopt;
    const auto text = read_small_file(to.admin_token_file);
    if (!text)
        return from.strongest(file_option).name + " names " + to.admin_token_file +
               ", which cannot be read: " + text.error().message() + ".";
    to.admin_token = boost::trim_copy(*text);
    return check_token(to.admin_token, to.admin_token_file);
}

bool keeps_files_outside(const settings& s)
{
    if (s.content_store == content_home::automatic)
        return s.database_url.empty();
    return s.content_store != content_home::inline_;
}

// Rules that involve more than one setting.
failure check_together(const settings& s)
{
    if (s.listen.empty() && s.listen_tls.empty())
        return "--listen is none and --listen-tls is not given, so there would be no listener.";
    for (const auto& where : s.listen)
        if (!s.allow_plain_http && !is_loopback(where))
            return "--listen " + format_host_port(where) +
                   " is not a loopback address: use --listen-tls, or --allow-plain-http behind a TLS proxy.";
    if (s.tls_cert.empty() != s.tls_key.empty())
        return "--tls-cert and --tls-key are only of use together, but " +
               std::string(s.tls_cert.empty() ? "--tls-cert" : "--tls-key") + " is missing.";
    if (!s.replica_url.empty() && s.database_url.empty())
        return "--replica-url names a standby of --database-url, which is not given.";
    if (s.max_request_bytes < s.max_file_bytes)
        return "--max-request-bytes must be at least --max-file-bytes, which is " +
               std::to_string(s.max_file_bytes) + ", but is " + std::to_string(s.max_request_bytes) + ".";
    if (s.max_file_bytes > largest_file && !keeps_files_outside(s))
        return "--max-file-bytes is " + std::to_string(s.max_file_bytes) +
               ", but a row holds at most 26214400 bytes: larger files need --content-store directory or s3.";
    if (s.content_store == content_home::s3 && (s.s3_endpoint.empty() || s.s3_bucket.empty()))
        return "--content-store s3 needs --s3-endpoint and --s3-bucket, but " +
               std::string(s.s3_endpoint.empty() ? "--s3-endpoint" : "--s3-bucket") + " is missing.";
    if (s.max_parts < s.max_files)
        return "--max-parts must be at least --max-files, which is " + std::to_string(s.max_files) +
               ", but is " + std::to_string(s.max_parts) + ".";
    return std::nullopt;
}

failure load(settings& to, std::span<const given_flag> flags, const environment& env, audience who)
{
    sources from(flags, env);
    const option& config = *find_option("config");
    if (auto problem = take(to, config, from.strongest(config)))
        return problem;
    if (!to.config_file.empty())
        if (auto problem = from.read_file(to.config_file))
            return problem;

    for (const auto& o : option_table())
        if (&o != &config && is_read_by(o, who))
            if (auto problem = take(to, o, from.strongest(o)))
                return problem;

    if (to.ack_retention.count() == 0)
        to.ack_retention = settings().ack_retention;
    if (who != audience::serve)
        return std::nullopt;
    if (auto problem = take_admin_token(to, from, env))
        return problem;
    return check_together(to);
}

}  // namespace

environment process_environment()
{
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

boost::system::result<settings, setting_error> load_settings(std::span<const given_flag> flags,
                                                             const environment& env, audience who)
{
    settings out;
    if (auto problem = load(out, flags, env, who))
        return setting_error{*std::move(problem)};
    return out;
}

}  // namespace restante
