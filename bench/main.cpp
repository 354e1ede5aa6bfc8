#include "bench/scenarios.hpp"
#include "bench/wait_group.hpp"

#include <csignal>
#include <fstream>
#include <iostream>

namespace restante::bench {

namespace {

constexpr int wrong_usage = 2;

void save(const std::string& path, const std::vector<measurement>& all)
{
    std::ofstream out(path);
    write_json(out, all);
    if (!out.flush())
        throw failure("cannot write " + path);
}

// True if every request succeeded.
bool measure(const options& opts)
{
    progress_line progress(opts.quiet);
    scenario_context context{opts, parse_target(opts.server),
                             process_monitor(opts.server_pid, opts.postgres_pid), progress};
    context.server.timeout = std::chrono::seconds(opts.timeout);

    std::vector<measurement> all;
    bool clean = true;
    for (const auto& work : opts.workloads) {
        const auto colon = work.find(':');
        const auto argument = colon == std::string::npos ? std::string() : work.substr(colon + 1);
        const auto made = find_scenario(work)->run(context, argument);
        progress.clear();
        if (all.empty() && !opts.no_head)
            write_table_head(std::cout);
        for (const auto& one : made) {
            write_table_row(std::cout, one);
            write_notes(std::cout, one);
            clean = clean && one.errors == 0;
            all.push_back(one);
        }
    }
    if (!opts.json.empty())
        save(opts.json, all);
    return clean;
}

int run(std::span<const std::string> arguments)
{
    std::variant<options, help_text> read;
    try {
        read = read_options(arguments);
    } catch (const failure& wrong) {
        std::cerr << "restante-bench: " << wrong.what() << '\n';
        return wrong_usage;
    }
    if (const auto* help = std::get_if<help_text>(&read)) {
        std::cout << help->text;
        return EXIT_SUCCESS;
    }
    return measure(std::get<options>(read)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace restante::bench

int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    try {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        return restante::bench::run(arguments);
    } catch (const std::exception& e) {
        std::cerr << "restante-bench: " << e.what() << '\n';
        return EXIT_FAILURE;
    }
}
