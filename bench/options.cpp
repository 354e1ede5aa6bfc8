#include "bench/options.hpp"

#include "bench/client.hpp"
#include "bench/scenarios.hpp"
#include "cli/config_values.hpp"

#include <boost/program_options.hpp>

#include <fstream>
#include <iomanip>
#include <sstream>

namespace restante::bench {

namespace {

namespace po = boost::program_options;

constexpr const char* introduction =
    "Usage: restante-bench [OPTIONS] WORK…\n\n"
    "Puts a running server under load and tells what it took: rate, latency, errors, CPU for each request "
    "and peak\n"
    "memory. It registers workspaces of its own and leaves what it uploaded; use it on a server made for it, "
    "as\n"
    "bench/run does.\n\nWorks, one after the other:\n";

constexpr const char* closing =
    "\nLatencies are closed-loop: each connection asks again as soon as it was answered. CPU and memory "
    "need\n"
    "--server-pid (and --postgres-pid); both are read from /proc. The exit code is 0 when every request was\n"
    "answered as it should be, 1 when some were not or the server could not be reached, 2 for a wrong "
    "flag.\n\n"
    "  restante-bench --server-pid $(pidof restante) upload:10KiB fetch:10KiB poll:10\n"
    "  restante-bench --server https://127.0.0.1:8443 --metrics 127.0.0.1:9464 parked:10000\n";

std::string read_token(const std::string& path)
{
    std::ifstream in(path);
    std::string token;
    if (!std::getline(in, token))
        throw failure("cannot read a token from " + path);
    return token;
}

std::string help(const po::options_description& flags)
{
    std::ostringstream out;
    out << introduction;
    for (const auto& each : scenario_table())
        out << "  " << std::left << std::setw(22) << (std::string(each.name) + each.argument) << each.help
            << '\n';
    out << '\n' << flags << closing;
    return std::move(out).str();
}

void check(const options& given)
{
    if (given.works.empty())
        throw failure("no work was named; restante-bench --help has the list");
    if (given.connections == 0 || given.threads == 0 || given.workspaces == 0 || given.addresses == 0)
        throw failure("--connections, --threads, --workspaces and --addresses must be at least 1");
    if (given.threads > given.connections)
        throw failure("--threads must not be more than --connections");
    if (given.addresses > 250)
        throw failure("--addresses must not be more than 250");
    if (given.seconds <= 0 || given.warm_up < 0 || given.timeout == 0)
        throw failure("--seconds and --timeout must be more than 0, --warm-up at least 0");
    for (const auto& work : given.works)
        if (!find_scenario(work))
            throw failure("there is no work " + in_quotes(work) + "; restante-bench --help has the list");
}

}  // namespace

std::variant<options, help_text> read_options(int argc, const char* const* argv)
{
    options given;
    std::string metrics, token_file;
    pid_t server_pid = 0, postgres_pid = 0;
    po::options_description flags("Options", 110);
    // clang-format off
    flags.add_options()
        ("server", po::value(&given.server)->value_name("URL")->default_value(given.server),
         "where the server listens, in numbers; https:// for TLS")
        ("metrics", po::value(&metrics)->value_name("HOST:PORT"),
         "its metrics listener; parked needs it to know when all are parked")
        ("server-pid", po::value(&server_pid)->value_name("PID"), "the server's process, for CPU and memory")
        ("postgres-pid", po::value(&postgres_pid)->value_name("PID"),
         "the postmaster, for its CPU and its children's")
        ("admin-token-file", po::value(&token_file)->value_name("FILE"), "where registration is not open")
        ("connections", po::value(&given.connections)->value_name("N")->default_value(given.connections),
         "keep-alive connections")
        ("threads", po::value(&given.threads)->value_name("N")->default_value(given.threads),
         "threads that share the connections")
        ("workspaces", po::value(&given.workspaces)->value_name("N")->default_value(given.workspaces),
         "workspaces that share the requests")
        ("addresses", po::value(&given.addresses)->value_name("N")->default_value(given.addresses),
         "loopback addresses that parked and idle connections come from")
        ("seconds", po::value(&given.seconds)->value_name("S")->default_value(given.seconds),
         "time that is measured, for each work")
        ("warm-up", po::value(&given.warm_up)->value_name("S")->default_value(given.warm_up),
         "time before that")
        ("timeout", po::value(&given.timeout)->value_name("S")->default_value(given.timeout),
         "longest wait for one answer")
        ("cursors", po::value(&given.cursors)->value_name("FILE"),
         "a workspace, its token and a number of its feed on each line: poll asks from there")
        ("json", po::value(&given.json)->value_name("FILE"), "also writes every figure there")
        ("no-head", po::bool_switch(&given.no_head), "leaves out the head of the table")
        ("quiet", po::bool_switch(&given.quiet), "no progress on standard error")
        ("help", "shows this");
    // clang-format on
    po::options_description all = flags;
    all.add_options()("work", po::value(&given.works));
    po::positional_options_description works;
    works.add("work", -1);

    po::variables_map seen;
    try {
        po::store(po::command_line_parser(argc, argv).options(all).positional(works).run(), seen);
        po::notify(seen);
    } catch (const po::error& wrong) {
        throw failure(std::string(wrong.what()) + "; restante-bench --help has the list");
    }
    if (seen.count("help"))
        return help_text{help(flags)};

    if (seen.count("metrics"))
        given.metrics = parse_host_port(metrics);
    if (seen.count("metrics") && !given.metrics)
        throw failure("--metrics must look like 127.0.0.1:9464, and " + in_quotes(metrics) + " does not");
    if (seen.count("server-pid"))
        given.server_pid = server_pid;
    if (seen.count("postgres-pid"))
        given.postgres_pid = postgres_pid;
    if (seen.count("admin-token-file"))
        given.admin_token = read_token(token_file);
    check(given);
    return given;
}

}  // namespace restante::bench
