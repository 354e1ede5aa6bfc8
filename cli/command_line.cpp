#include "cli/command_line.hpp"

#include "cli/config_values.hpp"
#include "cli/help.hpp"
#include "cli/suggest.hpp"
#include "core/ids.hpp"

#include <algorithm>

namespace restante {

namespace {

using failure = std::optional<std::string>;

std::string see_help(std::string_view words)
{
    return " See `restante " + std::string(words) + (words.empty() ? "" : " ") + "--help`.";
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known,
                         std::string_view dashes)
{
    const auto meant = nearest(word, known);
    return meant.empty() ? "." : "; did you mean " + std::string(dashes) + std::string(meant) + "?";
}

bool asks_for_help(std::span<const std::string> args)
{
    return std::any_of(args.begin(), args.end(), [](const auto& a) { return a == "--help" || a == "-h"; });
}

// The verb at the start of the arguments, and how many arguments it consumed.
struct found_verb {
    const verb_entry* entry;
    std::size_t words;
};

found_verb find_verb(std::span<const std::string> args)
{
    for (const auto& entry : verb_table()) {
        if (args[0] == entry.words)
            return {&entry, 1};
        if (args.size() > 1 && args[0] + ' ' + args[1] == entry.words)
            return {&entry, 2};
    }
    return {nullptr, 0};
}

bool is_family(std::string_view word)
{
    const auto in_family = [&](const verb_entry& e) { return e.words.starts_with(std::string(word) + ' '); };
    const auto table = verb_table();
    return std::any_of(table.begin(), table.end(), in_family);
}

parsed_command_line without_verb(std::span<const std::string> args)
{
    if (is_family(args[0])) {
        if (args.size() == 1)
            return usage_error{family_help(args[0])};
        if (asks_for_help(args))
            return help_request{family_help(args[0])};
    } else if (args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
        return help_request{general_help()};
    } else if (args[0] == "--version") {
        return command{verb::version, {}, {}, {}};
    }

    const bool family = is_family(args[0]);
    const std::string typed = family ? args[0] + ' ' + args[1] : args[0];
    std::vector<std::string_view> known;
    for (const auto& entry : verb_table())
        known.push_back(entry.words);
    return usage_error{"There is no command " + in_quotes(typed) + did_you_mean(typed, known, "") +
                       see_help(family ? std::string_view(args[0]) : "")};
}

const own_option* find_own(const verb_entry& entry, std::string_view flag)
{
    const auto at =
        std::find_if(entry.own.begin(), entry.own.end(), [&](const auto& o) { return o.flag == flag; });
    return at == entry.own.end() ? nullptr : &*at;
}

const option* find_setting(const verb_entry& entry, std::string_view flag)
{
    const option* o = find_option(flag);
    return o && entry.reads && is_read_by(*o, *entry.reads) ? o : nullptr;
}

std::vector<std::string_view> flags_of(const verb_entry& entry)
{
    std::vector<std::string_view> flags;
    for (const auto& o : entry.own)
        flags.push_back(o.flag);
    for (const auto& o : option_table())
        if (find_setting(entry, o.flag))
            flags.push_back(o.flag);
    return flags;
}

std::string_view value_name_of(const verb_entry& entry, std::string_view flag)
{
    if (const auto* own = find_own(entry, flag))
        return own->value_name;
    return find_setting(entry, flag)->value_name;
}

bool is_own_elsewhere(std::string_view flag)
{
    const auto table = verb_table();
    return std::any_of(table.begin(), table.end(), [&](const auto& entry) { return find_own(entry, flag); });
}

std::string unknown_flag(const verb_entry& entry, std::string_view word)
{
    const auto flag = word.substr(std::min(word.size(), word.find_first_not_of('-')));
    if (find_option(flag) && !find_setting(entry, flag))
        return "--" + std::string(flag) + " is a setting of other commands, not of " +
               std::string(entry.words) + '.' + see_help(entry.words);
    if (is_own_elsewhere(flag))
        return "--" + std::string(flag) + " is an option of other commands, not of " +
               std::string(entry.words) + '.' + see_help(entry.words);
    return "There is no flag " + in_quotes(word) + did_you_mean(flag, flags_of(entry), "--") +
           see_help(entry.words);
}

std::string missing_value(const verb_entry& entry, std::string_view flag)
{
    const std::string name = "--" + std::string(flag);
    return name + " needs a value: " + name + ' ' + std::string(value_name_of(entry, flag)) + '.' +
           see_help(entry.words);
}

std::vector<std::string_view> choices_of(const own_option& o)
{
    std::vector<std::string_view> out;
    for (auto rest = o.choices; !rest.empty();) {
        out.push_back(rest.substr(0, rest.find(' ')));
        rest.remove_prefix(std::min(out.back().size() + 1, rest.size()));
    }
    return out;
}

// "inline, directory or s3".
std::string one_of(std::span<const std::string_view> words)
{
    std::string out(words.front());
    for (std::size_t i = 1; i < words.size(); ++i)
        out.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
    return out;
}

failure take_own(own_options& to, const own_option& o, const std::string& value)
{
    const std::string name = "--" + std::string(o.flag);
    const auto known = choices_of(o);
    if (!known.empty() && std::find(known.begin(), known.end(), value) == known.end())
        return name + " must be " + one_of(known) + ", but " + in_quotes(value) + " was given.";
    if (const auto* text = std::get_if<std::string own_options::*>(&o.member)) {
        to.*(*text) = value;
    } else if (const auto* number = std::get_if<std::optional<unsigned> own_options::*>(&o.member)) {
        const auto parsed = parse_whole_number(value);
        if (!parsed || *parsed < 0 || *parsed > o.most)
            return name + " must be a whole number from 0 to " + std::to_string(o.most) + ", but " +
                   in_quotes(value) + " was given.";
        to.*(*number) = static_cast<unsigned>(*parsed);
    } else {
        const auto on = parse_bool(value);
        if (!on)
            return name + " takes no value but true or false, and " + in_quotes(value) + " was given.";
        to.*std::get<bool own_options::*>(o.member) = *on;
    }
    return std::nullopt;
}

failure check_arguments(const verb_entry& entry, const std::vector<std::string>& given)
{
    const std::string usage = " Usage: " + usage_line(entry);
    if (given.size() > entry.arguments.size())
        return in_quotes(given[entry.arguments.size()]) + " is one argument too many." + usage;
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
        const auto& [name, required, is_uuid] = entry.arguments[i];
        if (i >= given.size()) {
            if (required)
                return std::string(name) + " is missing." + usage;
        } else if (is_uuid && !parse_uuid(given[i])) {
            return std::string(name) + " must be a UUID, but " + in_quotes(given[i]) + " was given.";
        }
    }
    return std::nullopt;
}

failure check_own(const verb_entry& entry, const own_options& own)
{
    if (entry.what == verb::content_move && own.place.empty())
        return "--to STORE is missing: inline, directory or s3." + see_help(entry.words);
    if (entry.what != verb::workspace_add)
        return std::nullopt;
    if (!own.url.empty() && !own.url.starts_with("http://") && !own.url.starts_with("https://"))
        return "--url must begin with http:// or https://, but " + in_quotes(own.url) + " was given.";
    if (own.mode == "push" && own.url.empty())
        return "--mode push needs --url, the address at which the workspace is called.";
    return std::nullopt;
}

failure take_flag(const verb_entry& entry, std::string_view flag, std::string value, command& to,
                  std::vector<given_flag>& flags)
{
    if (const auto* own = find_own(entry, flag))
        return take_own(to.own, *own, value);
    flags.push_back({find_setting(entry, flag), std::move(value)});
    return std::nullopt;
}

// Splits the words after the verb into own options, settings and arguments. A value follows its flag or an
// equals sign; a switch accepts one only after the equals sign (--dev=false overrides the environment).
// Everything after a bare -- is an argument, even if it starts with dashes.
failure sort_words(const verb_entry& entry, std::span<const std::string> words, command& to,
                   std::vector<given_flag>& flags)
{
    const auto known = flags_of(entry);
    std::vector<std::string_view> own_given;  // of settings, load_settings finds it
    bool only_arguments = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (only_arguments || !word.starts_with('-')) {
            to.arguments.emplace_back(word);
            continue;
        }
        if (word == "--") {
            only_arguments = true;
            continue;
        }
        const auto equals = word.find('=');
        const auto flag = word.starts_with("--") ? word.substr(2, equals - 2) : std::string_view();
        if (std::find(known.begin(), known.end(), flag) == known.end())
            return unknown_flag(entry, word.substr(0, equals));

        std::string value = "true";
        if (equals != std::string_view::npos)
            value = word.substr(equals + 1);
        else if (!value_name_of(entry, flag).empty())
            value = i + 1 < words.size() && !words[i + 1].starts_with("--") ? words[++i] : "";
        if (value.empty())
            return missing_value(entry, flag);
        if (find_own(entry, flag)) {
            if (std::find(own_given.begin(), own_given.end(), flag) != own_given.end())
                return "--" + std::string(flag) + " is given more than once.";
            own_given.push_back(flag);
        }
        if (auto problem = take_flag(entry, flag, std::move(value), to, flags))
            return problem;
    }
    return std::nullopt;
}

parsed_command_line parse_verb(const verb_entry& entry, std::span<const std::string> words,
                               const environment& env)
{
    command out{entry.what, {}, {}, {}};
    std::vector<given_flag> flags;
    if (auto problem = sort_words(entry, words, out, flags))
        return usage_error{*problem};
    if (auto problem = check_arguments(entry, out.arguments))
        return usage_error{*problem};
    if (auto problem = check_own(entry, out.own))
        return usage_error{*problem};
    if (!entry.reads)
        return out;

    auto config = load_settings(flags, env, *entry.reads);
    if (!config)
        return usage_error{config.error().message};
    out.config = *std::move(config);
    return out;
}

}  // namespace

parsed_command_line parse_command_line(std::span<const std::string> args, const environment& env)
{
    if (args.empty())
        return usage_error{general_help()};
    // `restante help serve` is equivalent to `restante serve --help`.
    const bool help_first = args[0] == "help" && args.size() > 1;
    const auto rest = help_first ? args.subspan(1) : args;

    const auto [entry, words] = find_verb(rest);
    if (!entry)
        return help_first && is_family(rest[0]) ? help_request{family_help(rest[0])} : without_verb(rest);
    if (help_first || asks_for_help(rest))
        return help_request{verb_help(*entry)};
    return parse_verb(*entry, rest.subspan(words), env);
}

boost::system::result<settings, setting_error> read_settings_again(std::span<const std::string> args,
                                                                   const environment& env)
{
    auto parsed = parse_command_line(args, env);
    if (auto* asked = std::get_if<command>(&parsed))
        return std::move(asked->config);
    if (auto* wrong = std::get_if<usage_error>(&parsed))
        return setting_error{std::move(wrong->message)};
    return setting_error{"The command line asks for help."};
}

}  // namespace restante
