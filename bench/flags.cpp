#include "bench/flags.hpp"

#include "bench/failure.hpp"
#include "cli/config_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <variant>

namespace restante::bench {

namespace {

// Where a flag's value is stored. The type also says how the value is written.
using member = std::variant<std::string options::*, unsigned options::*, double options::*, bool options::*,
                            std::optional<pid_t> options::*, std::optional<host_port> options::*>;

struct flag {
    std::string_view name;        // without dashes
    std::string_view value_name;  // empty for a switch
    member to;
    std::string_view help;

    bool is_switch() const { return value_name.empty(); }
};

constexpr flag table[] = {
    {"server", "URL", &options::server, "numeric address of the server; https:// for TLS"},
    {"metrics", "HOST:PORT", &options::metrics,
     "its metrics listener; parked reads there how many polls are parked"},
    {"server-pid", "PID", &options::server_pid, "the server's process, for CPU and memory"},
    {"postgres-pid", "PID", &options::postgres_pid, "the postmaster, for its CPU and that of its children"},
    {"admin-token-file", "FILE", &options::admin_token_file,
     "admin token, for servers where registration is not open"},
    {"connections", "N", &options::connections, "keep-alive connections"},
    {"threads", "N", &options::threads, "threads that share the connections"},
    {"workspaces", "N", &options::workspaces, "workspaces that share the requests"},
    {"addresses", "N", &options::addresses, "loopback addresses that parked and idle connections come from"},
    {"seconds", "S", &options::seconds, "measured time of each workload"},
    {"warm-up", "S", &options::warm_up, "load before the measured time"},
    {"timeout", "S", &options::timeout, "longest wait for one answer"},
    {"cursors", "FILE", &options::cursors,
     "for poll and upload: a workspace, its token and a feed number per line"},
    {"json", "FILE", &options::json, "also write every figure to FILE"},
    {"no-head", "", &options::no_head, "leave out the head of the table"},
    {"quiet", "", &options::quiet, "no progress on standard error"},
};

// Each stores the value and returns nullptr, or returns what was expected instead.
const char* store(std::string& to, const std::string& text)
{
    to = text;
    return nullptr;
}

const char* store(unsigned& to, const std::string& text)
{
    const auto number = parse_whole_number(text);
    if (!number || *number < 0 || *number > std::numeric_limits<unsigned>::max())
        return "a whole number";
    to = static_cast<unsigned>(*number);
    return nullptr;
}

const char* store(double& to, const std::string& text)
{
    const char* const end = text.data() + text.size();
    double number = 0;
    const auto [stopped, ec] = std::from_chars(text.data(), end, number);
    if (ec != std::errc() || stopped != end || !std::isfinite(number))
        return "a number";
    to = number;
    return nullptr;
}

const char* store(bool& to, const std::string&)
{
    to = true;
    return nullptr;
}

const char* store(std::optional<pid_t>& to, const std::string& text)
{
    const auto number = parse_whole_number(text);
    if (!number || *number <= 0 || *number > std::numeric_limits<pid_t>::max())
        return "a process id";
    to = static_cast<pid_t>(*number);
    return nullptr;
}

const char* store(std::optional<host_port>& to, const std::string& text)
{
    to = parse_host_port(text);
    return to ? nullptr : "an address like 127.0.0.1:9464";
}

[[noreturn]] void reject(const std::string& message)
{
    throw failure(message + "; restante-bench --help has the list");
}

const flag& find_flag(std::string_view word)
{
    const auto named = [&](const flag& f) { return word == "--" + std::string(f.name); };
    const auto at = std::find_if(std::begin(table), std::end(table), named);
    if (at == std::end(table))
        reject("there is no flag " + in_quotes(word));
    return *at;
}

void set(options& into, const flag& given, const std::string& value)
{
    const auto store_member = [&](auto to) { return store(into.*to, value); };
    if (const char* const expected = std::visit(store_member, given.to))
        throw failure("--" + std::string(given.name) + " must be " + expected + ", and " + in_quotes(value) +
                      " is not");
}

std::string default_text(const options& defaults, const flag& f)
{
    std::ostringstream out;
    if (const auto* text = std::get_if<std::string options::*>(&f.to); text && !(defaults.**text).empty())
        out << " (=" << defaults.**text << ')';
    if (const auto* number = std::get_if<unsigned options::*>(&f.to))
        out << " (=" << defaults.**number << ')';
    if (const auto* number = std::get_if<double options::*>(&f.to))
        out << " (=" << defaults.**number << ')';
    return std::move(out).str();
}

std::string usage_of(const flag& f)
{
    std::string text = "--" + std::string(f.name);
    if (!f.is_switch())
        text += ' ' + std::string(f.value_name);
    return text;
}

}  // namespace

void parse_flags(std::span<const std::string> arguments, options& into)
{
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (!argument.starts_with('-')) {
            into.workloads.push_back(argument);
            continue;
        }
        const auto equals = argument.find('=');
        const auto& given = find_flag(argument.substr(0, equals));
        if (equals != std::string::npos) {
            if (given.is_switch())
                reject(usage_of(given) + " takes no value");
            set(into, given, argument.substr(equals + 1));
        } else if (given.is_switch()) {
            set(into, given, {});
        } else {
            if (++i == arguments.size())
                reject("a value is missing: " + usage_of(given));
            set(into, given, arguments[i]);
        }
    }
}

std::string flags_help()
{
    constexpr int left_width = 37;
    const options defaults;
    std::ostringstream out;
    for (const auto& f : table)
        out << "  " << std::left << std::setw(left_width) << usage_of(f) + default_text(defaults, f) << ' '
            << f.help << '\n';
    return std::move(out).str();
}

}  // namespace restante::bench
