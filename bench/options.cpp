#include "bench/options.hpp"

#include "bench/failure.hpp"
#include "bench/flags.hpp"
#include "bench/scenarios.hpp"
#include "cli/config_values.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace restante::bench {

namespace {

constexpr const char* introduction = R"(Usage: restante-bench [OPTIONS] WORKLOAD…

Loads a running server and prints what that took: rate, latency, errors, CPU per request and peak memory. It
registers its own workspaces and leaves the files that it uploads, so use it on a server made for this, as
bench/run does.

Workloads, which run in the order given:
)";

constexpr const char* closing = R"(  --help                                show this

Latencies are closed-loop: each connection sends its next request as soon as the last one was answered. CPU
and memory are read from /proc and need --server-pid (and --postgres-pid). The exit code is 0 if every request
succeeded, 1 if some failed or the server could not be reached, 2 for a wrong flag.

  restante-bench --server-pid $(pidof restante) upload:10KiB fetch:10KiB poll:10
  restante-bench --server https://127.0.0.1:8443 --metrics 127.0.0.1:9464 parked:10000
)";

std::string read_token(const std::string& path)
{
    std::ifstream in(path);
    std::string token;
    if (!std::getline(in, token))
        throw failure("cannot read a token from " + path);
    return token;
}

std::string help()
{
    std::ostringstream out;
    out << introduction;
    for (const auto& each : scenario_table())
        out << "  " << std::left << std::setw(22) << (std::string(each.name) + each.argument) << each.help
            << '\n';
    out << "\nOptions:\n" << flags_help() << closing;
    return std::move(out).str();
}

void check(const options& opts)
{
    if (opts.workloads.empty())
        throw failure("no workload is named; restante-bench --help has the list");
    if (opts.connections == 0 || opts.threads == 0 || opts.workspaces == 0 || opts.addresses == 0)
        throw failure("--connections, --threads, --workspaces and --addresses must be at least 1");
    if (opts.threads > opts.connections)
        throw failure("--threads must not be more than --connections");
    if (opts.addresses > 250)
        throw failure("--addresses must not be more than 250");
    if (opts.seconds <= 0 || opts.warm_up < 0 || opts.timeout == 0)
        throw failure("--seconds and --timeout must be more than 0, --warm-up at least 0");
    for (const auto& work : opts.workloads)
        if (!find_scenario(work))
            throw failure("there is no workload " + in_quotes(work) + "; restante-bench --help has the list");
}

}  // namespace

std::variant<options, help_text> read_options(std::span<const std::string> arguments)
{
    if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end())
        return help_text{help()};
    options opts;
    parse_flags(arguments, opts);
    if (!opts.admin_token_file.empty())
        opts.admin_token = read_token(opts.admin_token_file);
    check(opts);
    return opts;
}

}  // namespace restante::bench
